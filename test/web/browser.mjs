// The dashboard in a real browser, against a real cluster: what it shows is compared with what kubectl says.
//
//     browser.mjs PLATOON CROWD PACKAGES EXAMPLES WORK SHOTS [PART...]
//
// PART: report, access, truth, life, what-if, restart, keyboard, everybody, scale; all of them unless some are named.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Cases, Cluster, FLAGS, freePort, load, startCrowd, until } from './harness.mjs'
import { testReport } from './report.mjs'

const [platoon, crowdProgram, packages, examples, work, shots, ...parts] = process.argv.slice(2)
const wanted = part => parts.length === 0 || parts.includes(part)
const { chromium } = load(packages, 'playwright-core')
const axe = readFileSync(path.join(packages, 'node_modules/axe-core/axe.min.js'), 'utf8')
const cases = new Cases()
const cluster = new Cluster(platoon, path.join(work, 'data'), await freePort())
const noise = [] // what the browser complained about
let isRestarting = false

async function openPage(browser, url, options = {}) {
	const context = await browser.newContext({
		viewport: { width: 1440, height: 900 },
		bypassCSP: options.bypassCSP ?? false,
		...options,
	})
	const page = await context.newPage()
	page.on('console', message => {
		const away =
			isRestarting && /ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|Failed to load resource/.test(message.text())
		const ours = /willReadFrequently/.test(message.text()) // reading pixels is what the test does, not the page
		if (['error', 'warning'].includes(message.type()) && !away && !ours && !options.mayComplain)
			noise.push(message.text())
	})
	page.on('pageerror', error => noise.push(error.message))
	page.setDefaultTimeout(10_000)
	page.on('request', request => {
		if (!request.url().startsWith(new URL(url).protocol === 'file:' ? url : new URL(url).origin) && !request.url().startsWith('data:'))
			noise.push('request to ' + request.url())
	})
	await page.goto(url)
	return page
}

const text = (page, selector) => page.locator(selector).first().innerText()
const shot = (page, name) => page.screenshot({ path: path.join(shots, name + '.png') })
const gpusOf = pod =>
	pod.spec.containers.reduce((sum, each) => sum + Number(each.resources?.limits?.['nvidia.com/gpu'] ?? 0), 0)
const isThere = pod => pod.spec.nodeName && !['Succeeded', 'Failed'].includes(pod.status.phase)

function gpusUsed() {
	return cluster
		.get('pods', '-A')
		.items.filter(isThere)
		.reduce((sum, pod) => sum + gpusOf(pod), 0)
}

async function checkAxe(page, where) {
	const found = await page.evaluate(async () =>
		(await window.axe.run(document, { resultTypes: ['violations'] })).violations.map(
			each =>
				each.id +
				': ' +
				each.nodes
					.slice(0, 3)
					.map(node => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? ''))
					.join(' | '),
		),
	)
	assert.deepEqual(found, [], where)
}

/** The swatch colour of what is at a point of the map, and the colour that is drawn there. */
async function colourOn(page, node) {
	const box = await page.locator('.tiles canvas').first().boundingBox()
	for (let y = 20; y < box.height; y += 32)
		for (let x = 12; x < box.width; x += 40) {
			await page.mouse.move(box.x + x, box.y + y)
			const tip = page.locator('.tip strong')
			if ((await tip.count()) === 0 || (await tip.innerText()) !== node) continue
			const swatches = page.locator('.tip .swatch')
			const swatch = (await swatches.count())
				? await swatches.first().evaluate(each => getComputedStyle(each).backgroundColor)
				: null
			// Most of what is right of it and below belongs to the same node.
			const drawn = await page
				.locator('.tiles canvas')
				.first()
				.evaluate(
					(canvas, at) => {
						const { data } = canvas.getContext('2d').getImageData(at[0], at[1], 40, 40),
							counts = {}
						for (let i = 0; i < data.length; i += 4) {
							const colour = `rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`
							counts[colour] = (counts[colour] ?? 0) + 1
						}
						return Object.entries(counts).sort((a, b) => b[1] - a[1])[0][0]
					},
					[x, y],
				)
			return { swatch, drawn }
		}
	throw new Error(`node ${node} is nowhere on the map`)
}

/* ---- access ---- */

async function testAccess(browser) {
	const base = cluster.url.split('#')[0]
	await cases.run(
		'without a token the page says what to do, a wrong one is told apart, the right one opens it',
		async () => {
			const page = await openPage(browser, base, { mayComplain: true })
			await page.getByRole('heading', { name: 'A token is needed' }).waitFor()
			await page.getByLabel('Token').fill('wrong')
			await page.keyboard.press('Enter')
			await page.getByRole('heading', { name: 'not accepted' }).waitFor()
			await shot(page, 'no-access')
			await page.evaluate(axe).catch(() => {})
			await page.getByLabel('Token').fill(cluster.token)
			await page.keyboard.press('Enter')
			await page.locator('.status.live').waitFor()
			await page.context().close()
		},
	)
	await cases.run('the printed address works on the first click, and the token does not stay in it', async () => {
		const page = await openPage(browser, cluster.url)
		await page.locator('.status.live').waitFor()
		assert.equal(new URL(page.url()).hash, '')
		await page.reload()
		await page.locator('.status.live').waitFor()
		await page.context().close()
	})
}

/* ---- truth ---- */

async function testTruth(page) {
	await cases.run('header: GPUs, nodes and what waits are those of the cluster', async () => {
		await until(
			'one gang waits',
			async () => (await text(page, '.figure.urgent')) === '1 waits' || (await text(page, '.sum')),
		)
		await until('GPUs', async () => {
			const shown = (await text(page, '.figure')).split('\n')[0]
			return shown === `${gpusUsed()} of 128 GPUs used` || shown
		})
		assert.match(await text(page, '.sum'), /16 nodes/)
	})
	await cases.run('map: a node has the colour of the gang that runs there, and a free one has none', async () => {
		const pods = cluster.get('pods').items
		const { swatch, drawn } = await colourOn(
			page,
			pods.find(pod => pod.metadata.name === 'pretrain-0').spec.nodeName,
		)
		assert.equal(drawn, swatch)
		const free = cluster
			.get('nodes')
			.items.find(node => !pods.some(pod => pod.spec.nodeName === node.metadata.name))
		assert.deepEqual(await colourOn(page, free.metadata.name), { swatch: null, drawn: 'rgb(249, 250, 251)' })
	})
	await cases.run('table: used and whole of every zone are those of the cluster', async () => {
		await page.getByRole('button', { name: 'Table' }).click()
		const rows = await page
			.locator('.table-frame tbody tr')
			.evaluateAll(list => list.map(row => [...row.children].slice(0, 5).map(cell => cell.innerText.trim())))
		const nodes = cluster.get('nodes').items,
			pods = cluster.get('pods', '-A').items.filter(isThere)
		const wanted = ['z1', 'z2'].map(zone => {
			const names = nodes
				.filter(node => node.metadata.labels['topology.kubernetes.io/zone'] === zone)
				.map(node => node.metadata.name)
			const here = pods.filter(pod => names.includes(pod.spec.nodeName))
			return [
				zone,
				String(names.length),
				String(here.reduce((sum, pod) => sum + gpusOf(pod), 0)),
				String(names.length * 8),
				String(here.length),
			]
		})
		assert.deepEqual(rows, wanted)
		await shot(page, 'table')
		await page.getByRole('button', { name: 'Map' }).click()
	})
	await cases.run('gang tree: minimum, placed and ready at each level, and where each part sits', async () => {
		await page.getByRole('tab', { name: /Gangs/ }).click()
		await page.locator('.card', { hasText: 'llama' }).click()
		const group = cluster.get('podgroups').items.find(each => each.metadata.name.startsWith('pg-llama'))
		await until('the parts', async () => {
			const rows = await page
				.locator('.gang-tree tbody tr')
				.evaluateAll(list =>
					list.map(row => [
						row.querySelector('.part').innerText,
						...[...row.querySelectorAll('td.number')].map(cell => cell.innerText),
					]),
				)
			const parts = cluster
				.get('podgroup', group.metadata.name)
				.status.subGroups.map(part => [
					part.name,
					String(part.minimum),
					`${part.placed}/${part.placed}`,
					String(part.running),
				])
			const all = parts.reduce((sum, part) => sum + Number(part[1]), 0)
			return (
				JSON.stringify(rows) ===
					JSON.stringify([['llama', String(all), `${all}/${all}`, String(all)], ...parts]) || rows
			)
		})
		const rack = cluster
			.get('pods')
			.items.find(pod => pod.metadata.name === 'llama-worker-0')
			.spec.nodeName.replace(/-n\d+$/, '')
		assert.match(await text(page, '.gang-tree tbody tr:last-child .wide'), new RegExp(rack))
		await shot(page, 'gang')
	})
	await cases.run("waiting: the engine's words, what would help, and the nearest miss on the map", async () => {
		await page.getByRole('tab', { name: /Waiting/ }).click()
		await page.locator('.card', { hasText: 'too-wide' }).click()
		const message = cluster
			.get('podgroup', 'too-wide')
			.status.conditions.find(each => each.type === 'Scheduled').message
		for (const words of await page.locator('.detail .why-first, .detail .why li').allInnerTexts())
			assert.ok(message.includes(words), `${words} is not in: ${message}`)
		assert.ok((await page.locator('.detail .why-help li').count()) > 0)
		const amber = await page.locator('.tiles .above').evaluate(canvas => {
			const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
			let count = 0
			for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] > 150 && data[i + 2] < 60) count++
			return count
		})
		assert.ok(amber > 500, `only ${amber} pixels of the mark`)
		await shot(page, 'waiting')
		await page.keyboard.press('Escape')
	})
	await cases.run('queues: quota, fair share, use and what is over quota', async () => {
		await page.getByRole('tab', { name: 'Queues' }).click()
		const queue = cluster.get('queue', 'team-vision')
		await until('the numbers', async () => {
			const shown = await text(page, '.queues li:has-text("team-vision") .queue-head')
			const { status } = cluster.get('queue', 'team-vision'),
				used = Number(status.allocated['nvidia.com/gpu']),
				quota = queue.spec.resources.gpu.quota
			const over = used > quota ? ` · ${used - quota} over quota` : ''
			return (
				shown
					.replace(/\s+/g, ' ')
					.startsWith(
						`team-vision ${used} used · quota ${quota} · fair ${status.fairShare['nvidia.com/gpu']}${over}`,
					) || shown
			)
		})
		await shot(page, 'queues')
	})
}

/* ---- life ---- */

async function testLife(page) {
	await page.evaluate(() => {
		window.stayed = true
		window.shifts = 0
		new PerformanceObserver(list =>
			list.getEntries().forEach(each => (window.shifts += each.hadRecentInput ? 0 : each.value)),
		).observe({ type: 'layout-shift', buffered: false })
	})
	await cases.run('rollout: segments fill up until all are ready', async () => {
		await page.getByRole('tab', { name: 'Rollouts' }).click()
		cluster.kubectl('apply', '-f', path.join(examples, 'rbg-segments.yaml'))
		const seen = new Set()
		await until(
			'all segments',
			async () => {
				const caption = await text(page, '.segments figcaption').catch(() => '')
				seen.add(/\d of 3 segments ready/.exec(caption)?.[0])
				return caption.includes('3 of 3 segments ready') || caption
			},
			60,
		)
		assert.ok(seen.size >= 3, `it jumped: ${[...seen]}`)
		await until(
			'kubectl agrees',
			() => cluster.get('rolebasedgroup', 'chat').status.coordinationStatuses[0].readySegments === 3,
		)
		await shot(page, 'rollout')
	})
	await cases.run('what is deleted leaves the page without a reload', async () => {
		const before = gpusUsed()
		cluster.kubectl('delete', '-f', path.join(examples, 'up-gang.yaml'), '--wait=false')
		await until('fewer GPUs', async () => {
			const shown = (await text(page, '.figure')).split('\n')[0],
				now = gpusUsed()
			return (now < before && shown === `${now} of 128 GPUs used`) || [shown, now]
		})
		assert.equal(await page.evaluate(() => window.stayed), true)
	})
	await cases.run('nothing on the page moves while the cluster changes', async () => {
		assert.ok(
			(await page.evaluate(() => window.shifts)) < 0.01,
			`layout shift ${await page.evaluate(() => window.shifts)}`,
		)
	})
	await cases.run('timeline: back to when the gang was there, event by event, and back to live', async () => {
		const now = await text(page, '.figure')
		await page.getByRole('tab', { name: 'Events' }).click()
		await page.getByLabel('Filter events').fill('pretrain is now Running')
		await page.locator('.event').first().click()
		await page.getByRole('button', { name: 'Back to live' }).waitFor()
		assert.match(await text(page, '.detail h2'), /pretrain/)
		assert.match(await text(page, '.gang-tree tbody'), /4\/4/)
		await shot(page, 'past')
		const slider = page.getByRole('slider', { name: 'Time' })
		await slider.focus()
		const time = await slider.getAttribute('value')
		await page.keyboard.press('ArrowLeft')
		assert.ok((await slider.inputValue()) < time)
		await page.getByRole('button', { name: 'One event forward' }).click()
		await page.getByRole('button', { name: 'Back to live' }).click()
		await page.keyboard.press('Escape')
		assert.equal(await text(page, '.figure'), now)
	})
}

async function testWhatIf(page) {
	const ask = async manifest => {
		await page.getByRole('tab', { name: 'What if' }).click()
		await page.getByLabel(/A manifest/).fill(manifest)
		await page.getByRole('button', { name: 'Where would it go?' }).click()
		await page.locator('.answer').waitFor()
		await page.getByRole('button', { name: 'Where would it go?' }).waitFor()
		return text(page, '.answer')
	}
	await cases.run('what-if: a gang that fits is drawn where it would go, and nothing is created', async () => {
		const before = cluster.get('pods,podgroups', '-A').items.length
		assert.match(
			await ask(readFileSync(path.join(examples, 'up-gang.yaml'), 'utf8')),
			/4\/4 pods would be placed[\s\S]*drawn on the map/,
		)
		await page.getByText('would be here').waitFor()
		assert.equal(cluster.get('pods,podgroups', '-A').items.length, before)
		await shot(page, 'what-if')
	})
	await cases.run('what-if: one that does not fit is explained; bad input is told with its place', async () => {
		assert.match(
			await ask(readFileSync(path.join(examples, 'up-impossible.yaml'), 'utf8')),
			/closest rack/,
		)
		assert.match(await ask('kind: [unclosed'), /line \d+, column \d+/)
		assert.match(
			await ask(
				'apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: x}\nspec: {minMember: -3}\n',
			),
			/spec\.minMember/,
		)
		assert.match(await ask('just words'), /./)
		await page.getByRole('button', { name: 'Clear' }).click()
	})
}

async function testRestart(page) {
	await cases.run('a restart of the server: the page says so, comes back by itself and shows the truth', async () => {
		isRestarting = true
		await page.evaluate(() => (window.stayed = true))
		await cluster.stop()
		await page.locator('.status.lost').waitFor()
		await cluster.start()
		await page.locator('.status.live').waitFor({ timeout: 20_000 })
		isRestarting = false
		await until('GPUs', async () => {
			const shown = (await text(page, '.figure')).split('\n')[0]
			return shown === `${gpusUsed()} of 128 GPUs used` || shown
		})
		assert.equal(await page.evaluate(() => window.stayed), true)
		cluster.kubectl('apply', '-f', path.join(examples, 'up-gang.yaml'))
		await page.getByRole('tab', { name: /Gangs/ }).click()
		await page.locator('.card', { hasText: 'pretrain' }).waitFor()
	})
}

/* ---- everybody ---- */

async function testKeyboard(browser) {
	await cases.run('keyboard only: map, zoom, search, lists', async () => {
		const page = await openPage(browser, cluster.url)
		await page.locator('.status.live').waitFor()
		const where = () => page.evaluate(() => document.activeElement.className || document.activeElement.id)
		await page.keyboard.press('Tab')
		assert.equal(await where(), 'skip')
		await page.evaluate(() => (window.stayed = true))
		await page.keyboard.press('Enter')
		assert.equal(await page.evaluate(() => window.stayed), true)
		await page.goto(cluster.url.split('#')[0])
		await page.locator('.status.live').waitFor()
		for (let i = 0; i < 20 && (await where()) !== 'tiles'; i++) await page.keyboard.press('Tab')
		assert.equal(await where(), 'tiles')
		await page.keyboard.press('ArrowDown')
		await page.keyboard.press('ArrowRight')
		assert.match(await text(page, '#map-spot'), /^zone z2, 8 nodes, \d+ of 64 GPUs used/)
		await page.keyboard.press('Enter')
		assert.match(await text(page, '.crumbs'), /z2/)
		await page.keyboard.press('ArrowDown')
		await page.keyboard.press('ArrowDown')
		assert.match(await text(page, '#map-spot'), /^node z2-r1-n1, \d of 8 GPUs used/)
		await shot(page, 'keyboard')
		await page.keyboard.press('Backspace')
		assert.match(await text(page, '.crumbs'), /^Cluster/)
		await page.keyboard.press('/')
		await page.keyboard.type('llama')
		await page.keyboard.press('Enter')
		assert.match(await text(page, '.detail h2'), /llama/)
		for (
			let i = 0;
			i < 20 &&
			!(await where()).startsWith('tab-') &&
			(await page.evaluate(() => document.activeElement.role)) !== 'tab';
			i++
		)
			await page.keyboard.press('Tab')
		await page.keyboard.press('ArrowRight')
		await page.keyboard.press('ArrowRight')
		assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-queues')
		await page.keyboard.press('Escape')
		assert.equal(await page.locator('.detail').count(), 0)
		await page.context().close()
	})
}

async function testEverybody(browser) {
	for (const colorScheme of ['light', 'dark'])
		await cases.run(`axe finds nothing, ${colorScheme}`, async () => {
			const page = await openPage(browser, cluster.url, { colorScheme, bypassCSP: true })
			await page.locator('.status.live').waitFor()
			await page.evaluate(axe)
			for (const tab of ['Waiting', 'Gangs', 'Queues', 'Rollouts', 'Events', 'What if']) {
				await page.getByRole('tab', { name: tab }).click()
				await checkAxe(page, tab)
			}
			await page.getByRole('tab', { name: 'Waiting' }).click()
			await page.locator('.card').first().click()
			await checkAxe(page, 'a gang that waits')
			await shot(page, 'waiting-' + colorScheme)
			await page.getByRole('button', { name: 'Table' }).click()
			await checkAxe(page, 'table')
			await page.context().close()
		})
	await cases.run('a narrow screen needs no scrolling to the side', async () => {
		// With a second topology there is a choice to be shown above the map.
		cluster.kubectl('apply', '-f', path.join(examples, 'rbg-topology.yaml'))
		const page = await openPage(browser, cluster.url, { viewport: { width: 390, height: 844 } })
		await page.locator('.status.live').waitFor()
		await page.locator('.map-head select').waitFor()
		const wide = await page.evaluate(() =>
			[...document.querySelectorAll('body *')]
				.filter(
					each =>
						each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.skip, .unseen, .sum'),
				)
				.map(each => each.className || each.tagName)
				.slice(0, 5),
		)
		assert.deepEqual(
			[await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), wide],
			[true, []],
		)
		const tops = () => page.locator('.tabs button').evaluateAll(all => all.map(each => each.getBoundingClientRect().top))
		assert.equal(new Set(await tops()).size, 1, 'all tabs in one line')
		const lefts = () => page.locator('.tabs button').evaluateAll(all => all.map(each => each.getBoundingClientRect().left))
		const before = await lefts()
		for (const tab of ['Gangs', 'What if', 'Waiting']) {
			await page.getByRole('tab', { name: tab }).click()
			assert.deepEqual(await lefts(), before, `${tab} was chosen: no tab moves`)
		}
		await page.screenshot({ path: path.join(shots, 'narrow.png'), fullPage: true })
		await page.context().close()
	})
}

/* ---- scale ---- */

/** Times between frames over two seconds; the slowest in twenty, which is what a person notices. */
const frames = `new Promise(done => {
	const times = [], start = performance.now(); let last = start
	const tick = now => { times.push(now - last); last = now
		if (now - start < 2000) requestAnimationFrame(tick)
		else done(times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)]) }
	requestAnimationFrame(tick)
})`

async function testScale(browser) {
	const crowd = await startCrowd(crowdProgram, 5000, 50000, 500)
	await cases.run(
		'5,000 nodes and 50,000 pods, 500 of them changing every second: frames as on an empty page',
		async () => {
			const empty = await browser.newPage({ viewport: { width: 1440, height: 900 } })
			const page = await openPage(browser, crowd.url)
			await page.locator('.status.live').waitFor()
			await page.getByText('50,000 pods placed').waitFor()
			await shot(page, 'crowd')
			// The machine may be busy with something else: the best of a few pairs is what the page itself costs.
			let best = Infinity
			for (let i = 0; i < 4 && best > 2; i++) {
				await empty.bringToFront()
				const base = await empty.evaluate(frames)
				await page.bringToFront()
				best = Math.min(best, (await page.evaluate(frames)) / base)
			}
			console.error(`# frame time against an empty page: ${best.toFixed(2)}`)
			assert.ok(best <= 3, `frames take ${best.toFixed(2)} times as long as on an empty page`)
			await page.getByRole('tab', { name: /Gangs/ }).click()
			assert.ok((await page.locator('.rows li').count()) < 100, 'only rows that can be seen are in the page')
			await page.context().close()
			await empty.close()
		},
	)
	await crowd.stop()
}

/* ---- all ---- */

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS })
try {
	await cluster.start()
	if (wanted('report'))
		await testReport(cases, browser, { platoon, examples, work, shots, axe, openPage, checkAxe })
	for (const file of ['up-gang', 'up-impossible', 'pytorchjob', 'team-queues'])
		cluster.kubectl('apply', '-f', path.join(examples, file + '.yaml'))
	if (wanted('access')) await testAccess(browser)
	const page = await openPage(browser, cluster.url)
	await page.locator('.status.live').waitFor()
	await until(
		'the gangs run',
		() => cluster.get('podgroups', '-A').items.filter(each => each.status?.phase === 'Running').length >= 3,
	)
	if (wanted('truth')) await testTruth(page)
	if (wanted('life')) await testLife(page)
	if (wanted('what-if')) await testWhatIf(page)
	if (wanted('restart')) await testRestart(page)
	if (wanted('keyboard')) await testKeyboard(browser)
	if (wanted('everybody')) await testEverybody(browser)
	if (wanted('scale')) await testScale(browser)
	await cases.run('the browser has nothing to complain about, and asked nobody else', () =>
		assert.deepEqual([...new Set(noise)], []),
	)
} finally {
	await browser.close()
	await cluster.stop()
}
process.exitCode = cases.end()
