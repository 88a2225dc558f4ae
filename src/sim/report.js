// Values under the pointer, and the map over time. `frames`, `cpus` and `times` stand before this.
const SHADES = 9

function readValue(thousandths, unit) {
	return unit === '%' ? (thousandths / 10).toFixed(1) + ' %' : (thousandths / 1000).toLocaleString('en-US')
}

for (const chart of document.querySelectorAll('.chart')) {
	const lines = [...chart.querySelectorAll('polyline')].map(line => line.dataset.values.split(' ').map(Number))
	const labels = chart.closest('figure').querySelectorAll('.legend output')
	const cursor = chart.querySelector('.cursor')
	const { left, width, unit, seconds } = chart.dataset
	const last = lines[0].length - 1
	let at = last
	const show = index => {
		at = Math.min(last, Math.max(0, index))
		const x = Number(left) + (at * Number(width)) / last
		cursor.setAttribute('x1', x)
		cursor.setAttribute('x2', x)
		labels.forEach((label, i) => (label.textContent = ': ' + readValue(lines[i][at], unit) + ' at ' + readTime((seconds * at) / (last + 1))))
	}
	const hide = () => labels.forEach(label => (label.textContent = ''))
	chart.addEventListener('pointermove', event => {
		const box = chart.getBoundingClientRect()
		const x = ((event.clientX - box.left) / box.width) * chart.viewBox.baseVal.width
		show(Math.round(((x - left) / width) * last))
	})
	chart.addEventListener('pointerleave', hide)
	chart.addEventListener('blur', hide)
	chart.addEventListener('keydown', event => {
		const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -24, PageDown: 24, Home: -last, End: last }[event.key]
		if (step === undefined) return
		event.preventDefault()
		show(at + step)
	})
}

function readTime(seconds) {
	const [from, unit, name] = [[172800, 86400, 'd'], [7200, 3600, 'h'], [300, 60, 'min'], [0, 1, 's']].find(each => seconds >= each[0])
	return name === 's' ? Math.floor(seconds) + ' s' : (Math.floor((seconds * 10) / unit) / 10).toFixed(1) + ' ' + name
}

const slider = document.getElementById('time')
const play = document.getElementById('play')
const cells = frames.map((_, i) => document.querySelectorAll('#map' + i + ' rect'))
let timer = 0

function shown() {
	return document.querySelector('input[name="what"]:checked')?.value === 'cpu' ? cpus : frames
}

function draw() {
	const at = Number(slider.value)
	document.getElementById('when').textContent = times[at]
	shown().forEach((list, i) => cells[i].forEach((cell, n) => cell.setAttribute('class', 'u' + (list[at][n] === '-' ? 'n' : list[at][n]))))
}

function stop() {
	clearInterval(timer)
	timer = 0
	play.textContent = 'Play'
}

play.addEventListener('click', () => {
	if (timer) return stop()
	if (slider.value === slider.max) slider.value = 0
	play.textContent = 'Pause'
	timer = setInterval(() => {
		slider.value = Number(slider.value) + 1
		draw()
		if (slider.value === slider.max) stop()
	}, 250)
})
slider.addEventListener('input', () => {
	stop()
	draw()
})
for (const choice of document.querySelectorAll('input[name="what"]')) choice.addEventListener('change', draw)

document.querySelector('.maps').addEventListener('pointerover', event => {
	const cell = event.target.closest('rect')
	if (!cell) return
	const share = cell.className.baseVal.slice(1)
	const use = share === 'n' ? 'has none' : share === '0' ? 'empty' : share === '9' ? 'full' : 'about ' + Math.round((share * 100) / SHADES) + ' % in use'
	document.getElementById('node').textContent = cell.querySelector('title').textContent + ': ' + use
})
