// An informer of the official client beside writers of the same client: 1,000 changes, each seen once and in order.
//
//     node informer.mjs CLIENT KUBECONFIG
import { pathToFileURL } from 'node:url';

const k8s = await import(pathToFileURL(process.argv[2]).href);
const NAMESPACE = 'default', OBJECTS = 200, UPDATES = 3, WRITERS = 8;
const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[3]);
const api = config.makeApiClient(k8s.CoreV1Api);

const seen = []; // "add name version", in the order of the informer
const list = () => api.listNamespacedConfigMap({ namespace: NAMESPACE });
const informer = k8s.makeInformer(config, `/api/v1/namespaces/${NAMESPACE}/configmaps`, list);
for (const verb of ['add', 'update', 'delete'])
	informer.on(verb, (map) => seen.push({ verb, name: map.metadata.name, version: Number(map.metadata.resourceVersion), step: map.data.step }));
let trouble = null, stopping = false;
informer.on('error', (error) => { trouble ??= stopping ? null : error; });
await informer.start();

// What was acknowledged, per object in order. The whole order is that of the versions.
const written = [];
async function life(name) {
	const metadata = { name, namespace: NAMESPACE };
	let map = await api.createNamespacedConfigMap({ namespace: NAMESPACE, body: { metadata, data: { step: '0' } } });
	written.push({ verb: 'add', name, version: Number(map.metadata.resourceVersion), step: '0' });
	for (let step = 1; step <= UPDATES; step++) {
		map.data.step = String(step);
		map = await api.replaceNamespacedConfigMap({ name, namespace: NAMESPACE, body: map });
		written.push({ verb: 'update', name, version: Number(map.metadata.resourceVersion), step: String(step) });
	}
	await api.deleteNamespacedConfigMap({ name, namespace: NAMESPACE });
	written.push({ verb: 'delete', name, version: null, step: String(UPDATES) });
}

let next = 0;
async function writer() {
	while (next < OBJECTS)
		await life(`map-${next++}`);
}
await Promise.all(Array.from({ length: WRITERS }, writer));

const wanted = OBJECTS * (UPDATES + 2);
for (let wait = 0; seen.length < wanted && !trouble && wait < 300; wait++)
	await new Promise((resolve) => setTimeout(resolve, 100));
stopping = true; // ending its own request is an error to the informer
await informer.stop();

const problems = [];
if (trouble)
	problems.push(`the informer failed: ${trouble}`);
if (written.length !== wanted || seen.length !== wanted)
	problems.push(`${written.length} changes were acknowledged and ${seen.length} seen, not ${wanted}`);
for (let i = 1; i < seen.length; i++)
	if (seen[i].version <= seen[i - 1].version)
		problems.push(`version ${seen[i].version} came behind ${seen[i - 1].version}`);
const story = (changes, name) => changes.filter((c) => c.name === name).map((c) => `${c.verb} ${c.step}`).join(', ');
const versions = new Map(seen.map((c) => [`${c.verb} ${c.name} ${c.step}`, c.version]));
for (let i = 0; i < OBJECTS; i++)
	if (story(seen, `map-${i}`) !== story(written, `map-${i}`))
		problems.push(`map-${i}: seen [${story(seen, `map-${i}`)}], acknowledged [${story(written, `map-${i}`)}]`);
for (const change of written)
	if (change.version !== null && versions.get(`${change.verb} ${change.name} ${change.step}`) !== change.version)
		problems.push(`${change.verb} of ${change.name} was acknowledged as ${change.version}`);
for (const problem of problems.slice(0, 20))
	console.log(`FAILED ${problem}`);
console.log(`${seen.length} changes of ${OBJECTS} objects by ${WRITERS} writers seen in order; ${problems.length} problems`);
process.exit(problems.length || !seen.length ? 1 : 0);
