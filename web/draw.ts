// Drawing the map. What is below (tiles) is drawn once and then node by node; what is above (marks) is drawn often.
import { Domain } from './domains'
import { DomainBox, Layout, NodeBox, Rect, slotGrid } from './layout'
import { gangName, gangOf, Model } from './model'
import { Hues, lookOf, Paint } from './palette'
import { PodRecord } from './wire'

export interface Scene {
	model: Model
	layout: Layout
	paint: Paint
	hues: Hues
	lit: string | null // gang that is looked at; all others step back
	ghosts: Map<string, PodRecord[]> // by node: pods that would be there
}

const DIM = 0.22

function clearRound(context: CanvasRenderingContext2D, rect: Rect, radius: number) {
	context.beginPath()
	context.roundRect(rect.x, rect.y, rect.w, rect.h, Math.min(radius, rect.w / 3, rect.h / 3))
}

function drawBox(context: CanvasRenderingContext2D, scene: Scene, box: DomainBox) {
	const { paint } = scene
	if (box.domain.level < 0) return
	context.fillStyle = paint.box[Math.min(box.domain.level, paint.box.length - 1)]
	context.strokeStyle = paint.line
	context.lineWidth = 1
	clearRound(context, { x: box.x + 0.5, y: box.y + 0.5, w: box.w - 1, h: box.h - 1 }, 4)
	context.fill()
	context.stroke()
	if (!box.label) return
	context.fillStyle = box.domain.level === 0 ? paint.text : paint.faint
	context.font = `${box.domain.level === 0 ? 600 : 400} 11px system-ui, sans-serif`
	context.textBaseline = 'middle'
	context.fillText(fitText(context, box.domain.name, box.w - 10), box.x + 5, box.y + 9)
}

/** The end of a name says more than its beginning: racks of one zone begin alike. */
export function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
	if (context.measureText(text).width <= width) return text
	for (let cut = 1; cut < text.length; cut++)
		if (context.measureText('…' + text.slice(cut)).width <= width) return '…' + text.slice(cut)
	return ''
}

/** Pods of a node in the order of their slots. */
export function podsOnNode(model: Model, node: string): PodRecord[] {
	const pods: PodRecord[] = []
	for (const name of model.podsOn.get(node) ?? []) {
		const pod = model.pods.get(name)
		if (pod) pods.push(pod)
	}
	return pods.sort((a, b) => (gangOf(a) < gangOf(b) ? -1 : gangOf(a) > gangOf(b) ? 1 : a.n < b.n ? -1 : 1))
}

interface Slots {
	count: number
	columns: number
	rows: number
	slot: (index: number) => Rect
}

const MOST_SLOTS = 64

function slotsOf(tile: Rect, thousandths: number): Slots {
	const count = Math.max(1, Math.min(MOST_SLOTS, Math.round(thousandths / 1000)))
	const edge = tile.w >= 12 && tile.h >= 12 ? 1.5 : tile.w >= 7 ? 0.5 : 0
	const w = tile.w - 2 * edge,
		h = tile.h - 2 * edge
	const { columns, rows } = slotGrid(count, w, h)
	const between = w / columns >= 5 && h / rows >= 5 ? 1 : w / columns >= 3 && h / rows >= 3 ? 0.5 : 0
	const slot = (index: number) => ({
		x: tile.x + edge + (index % columns) * (w / columns) + between / 2,
		y: tile.y + edge + Math.floor(index / columns) * (h / rows) + between / 2,
		w: w / columns - between,
		h: h / rows - between,
	})
	return { count, columns, rows, slot }
}

const WEAVE = 6 // pixels of one stripe or dot with its gap
const WEAVABLE = 5 // a smaller slot has its colour only
const weaves = new Map<string, CanvasPattern | null>()

/** The pattern over a colour: stripes for the second look, dots for the third. */
function weaveOf(context: CanvasRenderingContext2D, look: number, colour: string): CanvasPattern | null {
	const key = look + colour
	if (weaves.has(key)) return weaves.get(key) ?? null
	const tile = document.createElement('canvas')
	tile.width = tile.height = WEAVE
	const pen = tile.getContext('2d')
	if (!pen) return null
	pen.fillStyle = pen.strokeStyle = colour
	pen.lineWidth = 1.5
	pen.beginPath()
	if (look === 1) {
		for (const shift of [-WEAVE, 0, WEAVE]) {
			pen.moveTo(shift, WEAVE)
			pen.lineTo(shift + WEAVE, 0)
		}
		pen.stroke()
	} else {
		pen.arc(WEAVE / 2, WEAVE / 2, 1.3, 0, 2 * Math.PI)
		pen.fill()
	}
	const pattern = context.createPattern(tile, 'repeat')
	weaves.set(key, pattern)
	return pattern
}

interface Dress {
	colour: string
	weave: CanvasPattern | null
}

function dressOf(context: CanvasRenderingContext2D, scene: Scene, pod: PodRecord): Dress {
	const gang = gangOf(pod)
	if (!gang) return { colour: scene.paint.single, weave: null }
	const hue = scene.hues.of(gang),
		look = lookOf(hue)
	return {
		colour: scene.paint.hues[hue],
		weave: look > 0 ? weaveOf(context, look, look === 1 ? scene.paint.text : scene.paint.page) : null,
	}
}

/** Slots of a pod that runs are full; of one that is not ready yet, a frame with a light filling. */
function drawPod(context: CanvasRenderingContext2D, scene: Scene, pod: PodRecord, rects: Rect[], ghost: boolean) {
	const { colour, weave } = dressOf(context, scene, pod)
	const chosen = scene.lit !== null && gangOf(pod) === scene.lit
	const back = scene.lit !== null && gangOf(pod) !== scene.lit && !ghost ? DIM : 1
	for (const rect of rects) {
		const large = rect.w >= WEAVABLE && rect.h >= WEAVABLE
		context.globalAlpha = back * (ghost ? 0.3 : pod.ok && !pod.del ? 1 : 0.45)
		context.fillStyle = colour
		context.fillRect(rect.x, rect.y, rect.w, rect.h)
		if (weave && large) {
			context.globalAlpha *= 0.55
			context.fillStyle = weave
			context.fillRect(rect.x, rect.y, rect.w, rect.h)
		}
		if (chosen && large) {
			context.globalAlpha = 1
			context.strokeStyle = scene.paint.text
			context.lineWidth = 1
			context.strokeRect(rect.x + 0.5, rect.y + 0.5, rect.w - 1, rect.h - 1)
		}
		if ((ghost || !pod.ok || pod.del) && rect.w >= 4 && rect.h >= 4) {
			context.globalAlpha = back
			context.strokeStyle = colour
			context.lineWidth = 1
			context.setLineDash(ghost || pod.del ? [2, 2] : [])
			context.strokeRect(rect.x + 0.5, rect.y + 0.5, rect.w - 1, rect.h - 1)
			context.setLineDash([])
		}
	}
	context.globalAlpha = 1
}

/** From an offset in thousandths of a slot: the slots, the last and the first in part. */
function rectsFor(slots: Slots, from: number, amount: number): Rect[] {
	const rects: Rect[] = []
	for (let at = from, left = amount; left > 0 && Math.floor(at / 1000) < slots.count;) {
		const within = at % 1000,
			take = Math.min(left, 1000 - within)
		const rect = slots.slot(Math.floor(at / 1000))
		rects.push(take === 1000 ? rect : { ...rect, x: rect.x + (rect.w * within) / 1000, w: (rect.w * take) / 1000 })
		at += take
		left -= take
	}
	return rects
}

const NAME = 13 // height of the line with the name, on tiles that are large enough

/** Which node it is, as far as its rack does not say so already, and whose it is if all of it is one gang's. */
function drawName(context: CanvasRenderingContext2D, scene: Scene, tile: NodeBox, pods: PodRecord[]) {
	const { model, paint } = scene
	const prefix = tile.domain.name + '-'
	const name = tile.node.startsWith(prefix) ? tile.node.slice(prefix.length) : tile.node
	const gangs = new Set(pods.map(gangOf))
	const group = gangs.size === 1 ? model.groups.get([...gangs][0]) : undefined
	context.font = '10px system-ui, sans-serif'
	context.textBaseline = 'middle'
	context.fillStyle = paint.faint
	const shown = fitText(context, name, tile.w - 8)
	context.fillText(shown, tile.x + 4, tile.y + NAME / 2 + 0.5)
	const left = tile.w - context.measureText(shown).width - 18
	const title = group && left > 20 ? cutText(context, gangName(group), left) : ''
	if (!title) return
	context.fillStyle = paint.text
	context.fillText(title, tile.x + tile.w - 4 - context.measureText(title).width, tile.y + NAME / 2 + 0.5)
}

/** Names of gangs begin with what tells them apart. */
function cutText(context: CanvasRenderingContext2D, text: string, width: number): string {
	if (context.measureText(text).width <= width) return text
	for (let length = text.length - 1; length > 2; length--)
		if (context.measureText(text.slice(0, length) + '…').width <= width) return text.slice(0, length) + '…'
	return ''
}

export function drawTile(context: CanvasRenderingContext2D, scene: Scene, tile: NodeBox) {
	const { model, paint } = scene
	const node = model.nodes.get(tile.node)
	if (!node) return
	const bare = paint.box[Math.min(Math.max(tile.domain.level, 0), paint.box.length - 1)]
	context.fillStyle = tile.domain.level < 0 ? paint.page : bare
	context.fillRect(tile.x - 0.5, tile.y - 0.5, tile.w + 1, tile.h + 1)
	context.fillStyle = paint.tile
	clearRound(context, tile, 2)
	context.fill()
	// A node of a cluster with GPUs that has none itself is one slot, filled by CPU.
	const byGpu = (node.gpu ?? 0) > 0
	const whole = byGpu ? node.gpu! : (node.cpu ?? 0)
	const pods = podsOnNode(model, tile.node)
	const head = tile.w >= 64 && tile.h >= 40 ? NAME : 0
	if (head) drawName(context, scene, tile, pods)
	const slots = slotsOf({ ...tile, y: tile.y + head, h: tile.h - head }, byGpu ? whole : 1000)
	const scale = byGpu ? 1 : whole ? 1000 / whole : 0
	context.fillStyle = paint.empty
	for (let i = 0; i < slots.count; i++) {
		const rect = slots.slot(i)
		context.fillRect(rect.x, rect.y, rect.w, rect.h)
	}
	// More GPUs than slots are drawn: several share one.
	const shrink = byGpu && whole > slots.count * 1000 ? (slots.count * 1000) / whole : 1
	let used = 0
	const put = (pod: PodRecord, ghost: boolean) => {
		const amount = (byGpu ? (pod.gpu ?? 0) : (pod.cpu ?? 0) * scale) * shrink
		if (amount > 0) drawPod(context, scene, pod, rectsFor(slots, used, amount), ghost)
		used += amount
	}
	for (const pod of pods) put(pod, false)
	for (const pod of scene.ghosts.get(tile.node) ?? []) put(pod, true)
	if (node.down || node.cordoned) drawTrouble(context, scene, tile, !!node.down)
}

/** A node that is down is crossed out, one that takes no new pods has a bar at its side. */
function drawTrouble(context: CanvasRenderingContext2D, scene: Scene, tile: Rect, down: boolean) {
	context.save()
	clearRound(context, tile, 2)
	context.clip()
	context.strokeStyle = context.fillStyle = down ? scene.paint.down : scene.paint.faint
	context.lineWidth = tile.w > 20 ? 2 : 1
	if (down) {
		context.beginPath()
		context.moveTo(tile.x, tile.y)
		context.lineTo(tile.x + tile.w, tile.y + tile.h)
		context.moveTo(tile.x + tile.w, tile.y)
		context.lineTo(tile.x, tile.y + tile.h)
		context.stroke()
	} else {
		context.fillRect(tile.x, tile.y, Math.max(1.5, tile.w / 12), tile.h)
	}
	context.restore()
}

export function drawAll(context: CanvasRenderingContext2D, scene: Scene) {
	const { layout, paint } = scene
	context.fillStyle = paint.page
	context.fillRect(0, 0, layout.width, layout.height)
	for (const box of layout.boxes) drawBox(context, scene, box)
	for (const tile of layout.tiles) drawTile(context, scene, tile)
}

/* ---- marks above the tiles ---- */

export interface Miss {
	domain: Domain
	have: number
	need: number
}

export interface Marks {
	hover: Rect | null
	focus: Rect | null
	misses: Miss[]
	node: string | null
}

function outline(context: CanvasRenderingContext2D, rect: Rect, colour: string, width: number, dash: number[]) {
	context.strokeStyle = colour
	context.lineWidth = width
	context.setLineDash(dash)
	clearRound(context, { x: rect.x - 1, y: rect.y - 1, w: rect.w + 2, h: rect.h + 2 }, 4)
	context.stroke()
	context.setLineDash([])
}

export function drawMarks(context: CanvasRenderingContext2D, layout: Layout, paint: Paint, marks: Marks) {
	context.clearRect(0, 0, layout.width, layout.height)
	if (marks.hover) outline(context, marks.hover, paint.faint, 1, [])
	for (const miss of marks.misses) {
		const box = layout.byDomain.get(miss.domain.id)
		if (!box) continue
		outline(context, box, paint.waiting, 2, [5, 3])
		const text = miss.need ? `fits ${miss.have}/${miss.need}` : 'closest'
		context.font = '600 11px system-ui, sans-serif'
		const width = context.measureText(text).width + 10
		const x = Math.max(2, Math.min(box.x + box.w - width - 2, layout.width - width - 2)),
			y = Math.max(2, box.y - 8)
		context.fillStyle = paint.waiting
		context.beginPath()
		context.roundRect(x, y, width, 16, 3)
		context.fill()
		context.fillStyle = paint.page
		context.textBaseline = 'middle'
		context.fillText(text, x + 5, y + 8.5)
	}
	const node = marks.node ? layout.byNode.get(marks.node) : null
	if (node) outline(context, node, paint.text, 2, [])
	if (marks.focus) outline(context, marks.focus, paint.accent, 2.5, [])
}
