// The parts of the dashboard that need no browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildDomains, domainsByNode, findMiss, namesDown, shownLevels } from '../../web/domains'
import { gangTree } from '../../web/gang'
import { search } from '../../web/header'
import { History, Past, Teller } from '../../web/history'
import { combinations, contains, layoutDomains, slotGrid, tileAt } from '../../web/layout'
import { gangName, isWaiting, Model } from '../../web/model'
import { Hues, hueClass, lookOf, paintFor } from '../../web/palette'
import { overQuota, queueTree } from '../../web/queues'
import { segmentsOf } from '../../web/rollouts'
import { splitEvents } from '../../web/stream'
import { bars } from '../../web/timeline'
import { GroupRecord, LiveRecord, NodeRecord, PodRecord, QueueRecord, RbgRecord, WireRecord } from '../../web/wire'

const levels = [{ key: 'zone' }, { key: 'rack' }]

function nodes(zones: number, racks: number, each: number): NodeRecord[] {
	const list: NodeRecord[] = []
	for (let z = 0; z < zones; z++)
		for (let r = 0; r < racks; r++)
			for (let n = 0; n < each; n++)
				list.push({ k: 'n', n: `z${z}-r${r}-n${n}`, labels: { zone: `z${z}`, rack: `r${r}` }, gpu: 8000 })
	return list
}

/** Small, seeded: the same cases in every run. */
function numbers(seed: number) {
	return (below: number) => {
		seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
		return Math.floor((seed / 2 ** 32) * below)
	}
}

/* ---- domains ---- */

test('domains are found by the path the engine writes, in the order of their names', () => {
	const root = buildDomains(nodes(2, 12, 2), levels)
	assert.deepEqual(
		root.children.map(child => child.name),
		['z0', 'z1'],
	)
	assert.deepEqual(
		root.children[0].children.slice(1, 4).map(child => child.name),
		['r1', 'r2', 'r3'],
		'r10 is not before r2',
	)
	assert.equal(findMiss(root, levels, 'rack', 'z1/r10')?.path, 'z1/r10')
	assert.equal(findMiss(root, levels, 'zone', 'z1/r10'), null)
	assert.equal(findMiss(root, levels, null, null), null)
	assert.deepEqual(namesDown(domainsByNode(root).get('z1-r10-n0')), ['z1', 'r10'])
})

test('nodes without labels are shown too, and a level of hosts is no level of its own', () => {
	const root = buildDomains([...nodes(1, 1, 1), { k: 'n', n: 'lost' }], levels)
	assert.equal(root.count, 2)
	assert.equal(root.children.find(child => child.name === 'no zone')?.nodes[0].n, 'lost')
	const model = Model.from([{ k: 't', n: 'a', levels: [...levels, { key: 'kubernetes.io/hostname' }] }])
	assert.deepEqual(shownLevels(model, 'a'), levels)
	assert.deepEqual(shownLevels(model, 'none'), [])
})

/* ---- layout ---- */

const shapes: [string, NodeRecord[], number, number][] = [
	['nothing', [], 800, 600],
	['one node', nodes(1, 1, 1), 800, 600],
	['a small cluster', nodes(2, 4, 4), 920, 660],
	['five thousand nodes', nodes(10, 25, 20), 920, 660],
	['one flat rack', nodes(1, 1, 300), 600, 400],
	['a telephone', nodes(4, 6, 8), 340, 400],
	['uneven racks', nodes(2, 3, 8).filter((_, i) => i % 5 !== 0 || i > 30), 700, 500],
]

for (const [name, list, width, height] of shapes)
	test(`layout: ${name}: every node once, inside its domain, none above another`, () => {
		const root = buildDomains(list, levels),
			layout = layoutDomains(root, width, height)
		assert.equal(layout.tiles.length, list.length)
		assert.equal(layout.byNode.size, list.length)
		for (const tile of layout.tiles) {
			const box = layout.byDomain.get(tile.domain.id)!
			assert.ok(tile.w > 2 && tile.h > 2, 'it can be seen')
			assert.ok(
				tile.x >= box.x &&
					tile.x + tile.w <= box.x + box.w + 0.01 &&
					tile.y >= box.y &&
					tile.y + tile.h <= box.y + box.h + 0.01,
			)
		}
		for (const box of layout.boxes) {
			const parent = box.domain.parent && layout.byDomain.get(box.domain.parent.id)
			if (parent)
				assert.ok(box.y + box.h <= parent.y + parent.h + 0.01 && box.x + box.w <= parent.x + parent.w + 0.01)
		}
		const sample = layout.tiles.filter((_, i) => i % Math.ceil(list.length / 200 || 1) === 0)
		for (const tile of sample) {
			assert.equal(tileAt(layout, tile.x + tile.w / 2, tile.y + tile.h / 2)?.node, tile.node)
			const others = layout.tiles.filter(
				other => other !== tile && contains(other, tile.x + tile.w / 2, tile.y + tile.h / 2),
			)
			assert.deepEqual(others, [])
		}
	})

test('layout: five thousand nodes need no scrolling on a common screen', () => {
	assert.ok(layoutDomains(buildDomains(nodes(10, 25, 20), levels), 920, 660).height <= 661)
})

test('layout: the number of tries is bounded for any depth', () => {
	for (const most of [[100, 100, 100, 100], [5000], [3, 70, 40, 20, 16]]) assert.ok(combinations(most).length <= 6000)
})

test('eight slots are two rows of four, not three with a hole', () => {
	assert.deepEqual(slotGrid(8, 100, 90), { columns: 4, rows: 2 })
	assert.deepEqual(slotGrid(8, 20, 60), { columns: 2, rows: 4 })
	assert.deepEqual(slotGrid(1, 5, 5), { columns: 1, rows: 1 })
})

/* ---- model and history ---- */

function randomRecord(pick: (below: number) => number): WireRecord {
	const name = `default/p${pick(40)}`
	if (pick(12) === 0) return { k: 'n', n: `n${pick(6)}`, gpu: 8000, cpu: 64000, ...(pick(3) ? {} : { down: true }) }
	if (pick(12) === 0) return { k: 'g', n: `default/g${pick(5)}`, phase: pick(2) ? 'Running' : 'Pending' }
	if (pick(8) === 0) return { k: 'p', n: name, gone: true }
	const pod: PodRecord = {
		k: 'p',
		n: name,
		g: `g${pick(5)}`,
		s: pick(2) ? 'a' : 'b',
		ph: (['P', 'R', 'S', 'F'] as const)[pick(4)],
		gpu: 1000 * pick(3),
		cpu: 500,
	}
	if (pick(3)) pod.on = `n${pick(6)}`
	if (pick(2)) pod.ok = 1
	return pod
}

function facts(model: Model) {
	const sets = (map: Map<string, Set<string>>) => [...map].map(([key, set]) => [key, [...set].sort()]).sort()
	const counts = [...model.counts]
		.map(([gang, leaves]) => [gang, [...leaves].filter(([, each]) => each.pods + each.placed > 0).sort()])
		.sort()
	return JSON.stringify({
		totals: model.totals,
		on: sets(model.podsOn),
		of: sets(model.podsOf),
		counts,
		all: model.all().sort((a, b) => (a.k + a.n < b.k + b.n ? -1 : 1)),
	})
}

test('what is counted record by record is what a fresh count gives; time goes back and forth', () => {
	for (let seed = 1; seed <= 20; seed++) {
		const pick = numbers(seed),
			model = new Model(),
			history = new History(),
			states: string[] = [facts(model)]
		for (let i = 0; i < 150; i++) {
			const record = randomRecord(pick)
			history.add(i, model.apply(record), record)
			states.push(facts(model))
		}
		assert.equal(facts(Model.from(model.all())), facts(model), `seed ${seed}`)
		const past = new Past(model, history)
		for (let i = 0; i < 25; i++) {
			const time = pick(150)
			past.moveTo(time)
			assert.equal(facts(past.model), states[time + 1], `seed ${seed}, back to ${time}`)
		}
	}
})

test('history is bounded, and the past does not go further back than it is known', () => {
	const history = new History(),
		model = new Model()
	for (let i = 0; i < 30_000; i++) {
		const record: NodeRecord = { k: 'n', n: 'n', gpu: i }
		history.add(i, model.apply(record), record)
	}
	assert.ok(history.changes.length <= 25_000)
	const past = new Past(model, history)
	past.moveTo(0)
	assert.equal(past.position, history.dropped)
	// Whoever stays in the past until it is forgotten starts again from what is.
	for (let i = 30_000; i < 60_000; i++) {
		const record: NodeRecord = { k: 'n', n: 'n', gpu: i }
		history.add(i, model.apply(record), record)
	}
	past.moveTo(59_990)
	assert.equal(past.model.nodes.get('n')?.gpu, 59_990)
})

test('pods of one gang that are placed together are one line', () => {
	const teller = new Teller(() => 'train'),
		pod = (i: number, on?: string): PodRecord => ({ k: 'p', n: `a/x-${i}`, g: 'pg-train-1', ...(on ? { on } : {}) })
	for (let i = 0; i < 4; i++) teller.add({ at: 1000 + i, before: pod(i), after: pod(i, 'n1') }, i + 1)
	teller.add({ at: 9000, before: pod(9), after: pod(9, 'n1') }, 5)
	teller.add({ at: 9001, before: { k: 'n', n: 'n1' }, after: { k: 'n', n: 'n1', down: true } }, 6)
	teller.add({ at: 9002, before: pod(1), after: { ...pod(1), ok: 1 } }, 7)
	assert.deepEqual(
		teller.list.map(item => item.text),
		['4 pods of train placed', 'x-9 placed on n1', 'node n1 is not ready'],
	)
	assert.deepEqual(
		bars(teller.list, 1000, 9001, 8).map(bar => bar.good),
		[4, 0, 0, 0, 0, 0, 0, 1],
	)
	teller.drop(5)
	assert.equal(teller.list.length, 1)
})

/* ---- views ---- */

const train: GroupRecord = {
	k: 'g',
	n: 'a/train',
	phase: 'Pending',
	placed: false,
	tree: [
		{ name: '', parent: -1, min: 1, pods: 2, required: 'rack' },
		{ name: 'lead', parent: 0, min: 1, pods: 1, leaf: true },
		{ name: 'work', parent: 0, min: 2, pods: 2, leaf: true },
	],
}

test('the tree of a gang: counts go up, a parent is satisfied by its children', () => {
	const pods: PodRecord[] = [0, 1, 2].map(i => ({
		k: 'p',
		n: `a/w${i}`,
		g: 'train',
		s: 'work',
		ph: 'R',
		...(i < 2 ? { on: 'z0-r0-n0', ok: 1 as const } : {}),
	}))
	const list = nodes(1, 1, 1),
		model = Model.from([...list, train, ...pods])
	const views = gangTree(model, train, domainsByNode(buildDomains(list, levels)))
	assert.deepEqual(
		views.map(view => [view.depth, view.pods, view.placed, view.ready, view.satisfied]),
		[
			[0, 3, 2, 2, true],
			[1, 0, 0, 0, false],
			[1, 3, 2, 2, true],
		],
	)
	assert.deepEqual(views[2].places, [{ name: 'r0', path: ['z0', 'r0'], pods: 2 }])
	assert.ok(isWaiting(model, train))
	assert.ok(!isWaiting(model, { ...train, phase: 'Succeeded' }))
})

test('groups made for a workload are called by its name', () => {
	const uid = 'c8bbef1d-b84c-4cdc-8b10-dfd14fbe764e'
	assert.equal(gangName({ ...train, n: `a/pg-llama-${uid}`, owner: 'Job/llama' }), 'llama')
	assert.equal(gangName({ ...train, n: `a/pg-llama-${uid}-group-1`, owner: 'Job/llama' }), 'llama-group-1')
	assert.equal(gangName({ ...train, n: 'a/chat-0', owner: 'RoleBasedGroup/chat' }), 'chat-0')
})

test('queues: children below parents; a circle and a missing parent hide nobody', () => {
	const queue = (n: string, parent?: string): QueueRecord => ({ k: 'q', n, parent })
	const rows = queueTree([
		queue('b', 'a'),
		queue('a'),
		queue('c', 'b'),
		queue('x', 'y'),
		queue('y', 'x'),
		queue('lost', 'nobody'),
	])
	assert.deepEqual(
		rows.map(row => [row.queue.n, row.depth]),
		[
			['a', 0],
			['b', 1],
			['c', 2],
			['lost', 0],
			['x', 0],
			['y', 1],
		],
	)
	const share = { quota: 8, limit: -1, weight: 1, used: 10, kept: 0, wanted: 0, fair: 0 }
	assert.equal(overQuota(share), 2)
	assert.equal(overQuota({ ...share, quota: -1 }), 0)
})

test('segments: roles with different numbers of them, the last ones in part', () => {
	const role = (name: string, desired: number) => ({
		name,
		desired,
		pods: 1,
		ready: 0,
		updated: 0,
		target: 0,
		exists: 0,
	})
	const rbg: RbgRecord = {
		k: 'r',
		n: 'a/chat',
		ready: false,
		roles: [role('prefill', 5), role('decode', 1)],
		rules: [],
		progress: [],
	}
	const pods: PodRecord[] = [0, 1, 2].map(i => ({
		k: 'p',
		n: `a/p${i}`,
		rbg: 'chat',
		role: 'prefill',
		index: i,
		on: 'n',
		ph: 'R',
		...(i < 2 ? { ok: 1 as const } : {}),
	}))
	const segments = segmentsOf(Model.from(pods), rbg, {
		name: 'pd',
		progression: 'Ordered',
		sizes: { decode: 1, prefill: 2 },
	})
	assert.deepEqual(
		segments.map(roles => roles.map(({ want, placed, ready }) => [want, placed, ready])),
		[
			[
				[2, 2, 2],
				[1, 0, 0],
			],
			[
				[2, 1, 0],
				[0, 0, 0],
			],
			[
				[1, 0, 0],
				[0, 0, 0],
			],
		],
	)
})

test('search: gangs before nodes before pods, beginnings before the rest', () => {
	const model = Model.from([
		...nodes(1, 1, 1),
		train,
		{ ...train, n: 'a/retrain' },
		{ k: 'p', n: 'a/train-0', g: 'train' },
	] as LiveRecord[])
	assert.deepEqual(
		search(model, 'TRAIN').map(hit => hit.kind + ' ' + hit.title),
		['gang train', 'gang retrain', 'pod train-0'],
	)
	assert.deepEqual(search(model, '  '), [])
})

test('colours: few gangs never share one, and those that are gone give theirs back', () => {
	const hues = new Hues(),
		names = Array.from({ length: 10 }, (_, i) => 'g' + i)
	assert.equal(new Set(names.map(name => hues.of(name))).size, 10)
	hues.keep(name => name !== 'g3')
	assert.equal(hues.of('new'), 3)
	assert.equal(hues.of('g0'), 0)
})

test('colours: after ten gangs the same hues come with stripes, then with dots', () => {
	const hues = new Hues(),
		numbers = Array.from({ length: 30 }, (_, i) => hues.of('g' + i))
	assert.equal(new Set(numbers).size, 30)
	assert.deepEqual(numbers.map(lookOf), [...Array(10).fill(0), ...Array(10).fill(1), ...Array(10).fill(2)])
	assert.equal(new Set(numbers.map(hueClass)).size, 30)
	assert.equal(hueClass(27), 'hue-7 look-2')
	for (const dark of [false, true]) {
		const colours = paintFor(dark).hues
		assert.equal(new Set(colours).size, 30, 'without a pattern they differ in lightness')
		assert.ok(colours.every(colour => /^#[0-9a-f]{6}$/.test(colour)))
	}
	assert.ok(hues.of('one more') < 30)
})

test('events of the stream are put together however they are cut', () => {
	const whole = ': hello\n\ndata: {"a":1}\n\nevent: reset\ndata: {}\n\ndata: {"b"'
	for (let cut = 0; cut <= whole.length; cut++) {
		const first = splitEvents(whole.slice(0, cut)),
			second = splitEvents(first.rest + whole.slice(cut))
		assert.deepEqual(
			[...first.events, ...second.events],
			[
				{ name: 'message', data: '{"a":1}' },
				{ name: 'reset', data: '{}' },
			],
		)
		assert.equal(second.rest, 'data: {"b"')
	}
})
