// The page of `platoon simulate --report` in the browser: values under the pointer, the map over time, everybody can read it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import path from 'node:path'

/** `openPage` and `checkAxe` are those of the dashboard's tests. */
export async function testReport(cases, browser, { platoon, examples, work, shots, axe, openPage, checkAxe }) {
	const file = path.join(work, 'report.html')
	const options = [path.join(examples, 'trace.csv'), '--nodes', '1x2x8', '--compare', 'binpack,spread']
	const told = JSON.parse(
		execFileSync(platoon, ['simulate', ...options, '--report', file, '-o', 'json'], { encoding: 'utf8' }),
	)
	const open = settings => openPage(browser, 'file://' + file, { bypassCSP: true, ...settings })
	await cases.run('report: the values under the pointer and the keys are those of the document', async () => {
		const page = await open({})
		const chart = page.locator('.chart').first(),
			legend = page.locator('.legend').first()
		await chart.focus()
		await page.keyboard.press('Home')
		for (let i = 0; i < 30; i++) await page.keyboard.press('ArrowRight')
		const values = told.policies.map(policy => (policy.series[30].gpuThousandths / 10).toFixed(1) + ' %')
		const said = await legend.innerText()
		assert.ok(values.every((value, i) => said.includes(`${told.policies[i].policy}: ${value} at`)), said)
		const box = await chart.boundingBox()
		await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
		assert.notEqual(await legend.innerText(), said)
		await page.screenshot({ path: path.join(shots, 'report.png'), fullPage: true })
		await page.context().close()
	})
	await cases.run('report: the map goes through time and shows GPUs or CPUs', async () => {
		const page = await open({})
		const shades = () => page.locator('#map0 rect').evaluateAll(all => all.map(each => each.className.baseVal).join())
		const first = await shades()
		await page.locator('#time').fill('30')
		const later = await shades()
		assert.notEqual(later, first)
		await page.locator('input[value=cpu]').check()
		assert.notEqual(await shades(), later)
		await page.locator('#play').click()
		assert.equal(await page.locator('#play').innerText(), 'Pause')
		await page.waitForFunction(() => Number(document.getElementById('time').value) > 30)
		await page.locator('#play').click()
		await page.locator('#map0 rect').first().hover()
		assert.match(await page.locator('#node').innerText(), /^z1-r1-n1, z1-r1: (empty|full|about \d+ % in use)$/)
		await page.context().close()
	})
	await cases.run('report: axe finds nothing, light and dark, and a narrow screen is enough', async () => {
		for (const colorScheme of ['light', 'dark']) {
			const page = await open({ colorScheme, viewport: { width: 390, height: 844 } })
			await page.evaluate(axe)
			await checkAxe(page, 'report, ' + colorScheme)
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
			await page.screenshot({ path: path.join(shots, `report-${colorScheme}.png`), fullPage: true })
			await page.context().close()
		}
	})
}
