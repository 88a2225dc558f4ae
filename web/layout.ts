// Where every domain and node stands on the map: nested rows of tiles, all nodes of one size. Pure.
import { Domain } from './domains'

export interface Rect {
	x: number
	y: number
	w: number
	h: number
}

export interface DomainBox extends Rect {
	domain: Domain
	label: number // height of its name, 0: no room for one
}

export interface NodeBox extends Rect {
	node: string
	domain: Domain
}

export interface Layout {
	width: number
	height: number
	boxes: DomainBox[] // parents before children
	tiles: NodeBox[]
	byNode: Map<string, NodeBox>
	byDomain: Map<string, DomainBox>
}

const CHOICES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 100]
const LABEL = 15
const LABEL_FROM = 34 // a narrower box has no name
const LEAST_TILE = 7
const NARROWEST = 0.95 // width to height of a tile; a taller one would waste its height
const WIDEST = 1.9
const MOST_TRIES = 6000

/** Space inside a box and between its children, by how many levels are below it. */
function padding(below: number): number {
	return below <= 1 ? 2 : below === 2 ? 4 : 6
}

function gap(below: number): number {
	return below <= 1 ? 1 : below === 2 ? 3 : 6
}

function depthOf(domain: Domain): number {
	return domain.children.length ? 1 + Math.max(...domain.children.map(depthOf)) : 1
}

/** Most children a domain has at each distance from the root. */
function widest(domain: Domain, at: number, out: number[]) {
	const count = Math.max(domain.children.length, domain.nodes.length)
	out[at] = Math.max(out[at] ?? 1, count)
	for (const child of domain.children) widest(child, at + 1, out)
}

function choicesFor(most: number): number[] {
	const choices = CHOICES.filter(choice => choice < most)
	return most <= 100 ? [...choices, most] : choices
}

/** Every combination of children per row, one number per level. Bounded: with many levels every second choice is left out. */
export function combinations(most: number[]): number[][] {
	let lists = most.map(choicesFor)
	while (lists.reduce((product, list) => product * list.length, 1) > MOST_TRIES)
		lists = lists.map(list =>
			list.length > 2 ? list.filter((_, i) => i % 2 === 0 || i === list.length - 1) : list,
		)
	return lists.reduce<number[][]>((all, list) => all.flatMap(head => list.map(choice => [...head, choice])), [[]])
}

interface Measure {
	fixed: number // height that does not depend on tiles
	rows: number // of tiles, one above the other, where most are
}

function columnsOf(domain: Domain, columns: number): number {
	return Math.max(1, Math.min(columns, Math.max(domain.children.length, domain.nodes.length)))
}

function labelOf(domain: Domain, width: number): number {
	return domain.level >= 0 && width >= LABEL_FROM ? LABEL : 0
}

/** Widths come from the top; what is left to choose is the height of a tile. */
function measure(domain: Domain, width: number, columns: number[], at: number, below: number): Measure | null {
	const inside = width - 2 * padding(below),
		space = gap(below)
	const across = domain.children.length ? columnsOf(domain, columns[at]) : columns[at]
	const each = (inside - space * (across - 1)) / across
	const frame = 2 * padding(below) + labelOf(domain, width)
	if (each < (domain.children.length ? 12 : 3)) return null
	if (!domain.children.length) {
		const rows = Math.max(1, Math.ceil(domain.nodes.length / across))
		return { fixed: frame + space * (rows - 1), rows }
	}
	const sum: Measure = { fixed: frame - space, rows: 0 }
	for (let i = 0; i < domain.children.length; i += across) {
		let tallest: Measure = { fixed: 0, rows: 0 }
		for (const child of domain.children.slice(i, i + across)) {
			const one = measure(child, each, columns, at + 1, below - 1)
			if (!one) return null
			tallest = { fixed: Math.max(tallest.fixed, one.fixed), rows: Math.max(tallest.rows, one.rows) }
		}
		sum.fixed += tallest.fixed + space
		sum.rows += tallest.rows
	}
	return sum
}

/** Width of a tile for a choice of columns. */
function tileWidth(width: number, columns: number[], most: number[], depth: number): number {
	for (let at = 0; at < columns.length; at++) {
		const below = depth - at,
			across = at < columns.length - 1 ? Math.min(columns[at], most[at]) : columns[at]
		width = (width - 2 * padding(below) - gap(below) * (across - 1)) / across
	}
	return width
}

interface Choice {
	columns: number[]
	tile: number // height
	score: number
}

/** 0 when every row of the largest domains is full, less otherwise. */
function fullness(columns: number[], most: number[]): number {
	return (
		columns.reduce((sum, across, at) => sum + Math.log(most[at] / (Math.ceil(most[at] / across) * across)), 0) / 2
	)
}

function choose(root: Domain, width: number, height: number): Choice {
	const depth = depthOf(root),
		most: number[] = []
	widest(root, 0, most)
	let best: Choice = { columns: most.map(() => 1), tile: LEAST_TILE, score: Infinity }
	for (const columns of combinations(most)) {
		const needs = measure(root, width, columns, 0, depth)
		if (!needs) continue
		const tile = (height - needs.fixed) / needs.rows
		const wide = tileWidth(width, columns, most, depth)
		const shown = Math.max(LEAST_TILE, Math.min(tile, wide / NARROWEST))
		// Large tiles of a good shape, full rows, and a page that need not be scrolled.
		const useful = Math.min(wide, shown * WIDEST) * shown
		const score = (tile < LEAST_TILE ? 3 * (LEAST_TILE - tile) : 0) - Math.log(useful) - fullness(columns, most)
		if (score < best.score) best = { columns, tile: shown, score }
	}
	return best
}

export function layoutDomains(root: Domain, width: number, height: number): Layout {
	const choice = choose(root, width, height)
	const layout: Layout = { width, height, boxes: [], tiles: [], byNode: new Map(), byDomain: new Map() }
	// Tiles of a few nodes would be as large as the page: they stop growing at some point.
	const tile = Math.min(choice.tile, 150)
	const bottom = place(layout, root, 0, 0, width, choice.columns, 0, depthOf(root), tile)
	layout.height = Math.ceil(bottom)
	for (const box of layout.tiles) layout.byNode.set(box.node, box)
	for (const box of layout.boxes) layout.byDomain.set(box.domain.id, box)
	return layout
}

/** Returns the height it took. */
function place(
	layout: Layout,
	domain: Domain,
	x: number,
	y: number,
	width: number,
	columns: number[],
	at: number,
	below: number,
	tile: number,
): number {
	const box: DomainBox = { domain, x, y, w: width, h: 0, label: labelOf(domain, width) }
	const inset = padding(below),
		space = gap(below)
	const across = domain.children.length ? columnsOf(domain, columns[at]) : columns[at]
	const each = (width - 2 * inset - space * (across - 1)) / across
	let top = y + inset + box.label
	layout.boxes.push(box)
	if (!domain.children.length) {
		domain.nodes.forEach((node, i) => {
			const column = i % across,
				row = Math.floor(i / across)
			layout.tiles.push({
				node: node.n,
				domain,
				x: x + inset + column * (each + space),
				y: top + row * (tile + space),
				w: each,
				h: tile,
			})
		})
		const rows = Math.max(1, Math.ceil(domain.nodes.length / across))
		top += rows * (tile + space)
	}
	for (let i = 0; i < domain.children.length; i += across) {
		let tallest = 0
		const from = layout.boxes.length
		domain.children.slice(i, i + across).forEach((child, k) => {
			tallest = Math.max(
				tallest,
				place(layout, child, x + inset + k * (each + space), top, each, columns, at + 1, below - 1, tile),
			)
		})
		// Neighbours end at one line.
		for (const made of layout.boxes.slice(from)) if (made.domain.parent === domain) made.h = tallest
		top += tallest + space
	}
	box.h = top - space + inset - y
	return box.h
}

/** How n slots stand in a tile: as close to squares as can be. */
export function slotGrid(count: number, width: number, height: number): { columns: number; rows: number } {
	let best = { columns: 1, rows: count },
		least = Infinity
	for (let columns = 1; columns <= count; columns++) {
		const rows = Math.ceil(count / columns)
		const score = Math.abs(Math.log(width / columns / (height / rows))) + (rows * columns - count)
		if (score < least) {
			least = score
			best = { columns, rows }
		}
	}
	return best
}

export function contains(rect: Rect, x: number, y: number): boolean {
	return x >= rect.x && y >= rect.y && x < rect.x + rect.w && y < rect.y + rect.h
}

/** The node at a point; boxes are walked from the outside in. */
export function tileAt(layout: Layout, x: number, y: number): NodeBox | null {
	for (const box of layout.boxes) {
		if (box.domain.children.length || !contains(box, x, y)) continue
		for (const node of box.domain.nodes) {
			const tile = layout.byNode.get(node.n)
			if (tile && contains(tile, x, y)) return tile
		}
	}
	return null
}

export function boxAt(layout: Layout, x: number, y: number): DomainBox | null {
	let found: DomainBox | null = null
	for (const box of layout.boxes) if (box.domain.level >= 0 && contains(box, x, y)) found = box
	return found
}
