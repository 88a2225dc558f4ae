// The map: canvas for the eye, a tree for keyboard and screen reader, the same as a table for whoever prefers one.
import { KeyboardEvent, MouseEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Domain, findDomain, findMiss, levelName } from './domains'
import { drawAll, drawMarks, drawTile, Miss, podsOnNode, Scene } from './draw'
import { boxAt, Layout, layoutDomains, Rect, tileAt } from './layout'
import { gangName, gangOf, Model, shortName } from './model'
import { hueClass, paintFor } from './palette'
import { State } from './state'
import { DomainTable } from './table'
import { amount, plural } from './ui'

interface Spot {
	domain: Domain
	node: string | null
}

/** What a screen reader says of a place. */
export function describe(model: Model, spot: Spot, levels: { key: string; alias?: string }[]): string {
	if (spot.node) {
		const node = model.nodes.get(spot.node)
		const gangs = [...new Set(podsOnNode(model, spot.node).map(pod => titleOf(model, gangOf(pod) || pod.n)))]
		const state = node?.down ? ', not ready' : node?.cordoned ? ', takes no new pods' : ''
		return `node ${spot.node}${state}, ${usage(model, [spot.node])}, ${gangs.length ? 'runs ' + gangs.slice(0, 5).join(', ') : 'empty'}`
	}
	const nodes: string[] = []
	const walk = (domain: Domain) => {
		for (const node of domain.nodes) nodes.push(node.n)
		domain.children.forEach(walk)
	}
	walk(spot.domain)
	const name = spot.domain.level < 0 ? 'cluster' : `${levelName(levels[spot.domain.level])} ${spot.domain.name}`
	return `${name}, ${plural(nodes.length, 'node')}, ${usage(model, nodes)}`
}

/** Of a gang, or of a pod that is in none. */
function titleOf(model: Model, name: string): string {
	const group = model.groups.get(name)
	return group ? gangName(group) : shortName(name)
}

function usage(model: Model, nodes: string[]): string {
	let whole = 0,
		used = 0
	const unit = model.unit
	for (const name of nodes) {
		whole += model.nodes.get(name)?.[unit] ?? 0
		for (const pod of model.podsOn.get(name) ?? []) used += model.pods.get(pod)?.[unit] ?? 0
	}
	return `${amount(used)} of ${amount(whole)} ${unit === 'gpu' ? 'GPUs' : 'CPUs'} used`
}

/** Neighbours in the tree: left and right among siblings, up to the parent, down to the first child. */
export function step(spot: Spot, key: string, top: Domain): Spot | null {
	const { domain, node } = spot
	const inDomain = (child: Domain): Spot => ({ domain: child, node: null })
	if (key === 'ArrowUp')
		return node ? inDomain(domain) : domain !== top && domain.parent ? inDomain(domain.parent) : null
	if (key === 'ArrowDown') {
		if (node) return null
		if (domain.children.length) return inDomain(domain.children[0])
		return domain.nodes.length ? { domain, node: domain.nodes[0].n } : null
	}
	const siblings = node
		? domain.nodes.map(each => each.n)
		: domain.parent && domain !== top
			? domain.parent.children
			: [domain]
	const at = (siblings as (string | Domain)[]).indexOf(node ?? domain)
	const to =
		key === 'ArrowRight'
			? at + 1
			: key === 'ArrowLeft'
				? at - 1
				: key === 'Home'
					? 0
					: key === 'End'
						? siblings.length - 1
						: -1
	if (to < 0 || to >= siblings.length) return null
	const next = siblings[to]
	return typeof next === 'string' ? { domain, node: next } : inDomain(next)
}

function misses(state: State): Miss[] {
	const { root, levels } = state.tree()
	const gang = state.litGang()
	const group = gang ? state.model.groups.get(gang) : undefined
	const pod = state.selection?.kind === 'pod' ? state.model.pods.get(state.selection.name) : undefined
	const why = group && group.placed !== true ? group.why : pod?.why
	const first = (why ?? state.answer?.groups?.flatMap(each => each.why) ?? []).find(
		reason => reason.domain && reason.level,
	)
	const domain = first && findMiss(root, levels, first.level, first.domain)
	return domain ? [{ domain, have: first.have, need: first.need }] : []
}

export function MapView({ state }: { state: State }) {
	const [asTable, setTable] = useState(false)
	const { root, levels } = state.tree()
	const top = (state.zoom && findDomain(root, domain => domain.id === state.zoom)) || root
	const crumbs: Domain[] = []
	for (let at: Domain | null = top; at; at = at.parent) crumbs.unshift(at)
	const topologies = [...state.model.topologies.keys()].sort()
	return (
		<section className="map" aria-label="Cluster map">
			<div className="map-head">
				<nav aria-label="Place" className="crumbs">
					{crumbs.map((domain, i) => (
						<span key={domain.id}>
							{i > 0 && (
								<span className="sep" aria-hidden="true">
									›
								</span>
							)}
							{domain === top ? (
								<strong>{domain.name || 'Cluster'}</strong>
							) : (
								<button className="link" onClick={() => state.zoomTo(domain.id)}>
									{domain.name || 'Cluster'}
								</button>
							)}
						</span>
					))}
					<span className="faint">
						{plural(top.count, 'node')}
						{levels.length ? ' · ' + levels.map(levelName).join(' › ') : ''}
					</span>
				</nav>
				{topologies.length > 1 && (
					<label className="faint">
						Topology{' '}
						<select
							value={state.topology || topologies[0]}
							onChange={event => {
								state.topology = event.target.value
								state.zoomTo('')
							}}
						>
							{topologies.map(name => (
								<option key={name}>{name}</option>
							))}
						</select>
					</label>
				)}
				<div className="switch" role="group" aria-label="Show as">
					<button aria-pressed={!asTable} onClick={() => setTable(false)}>
						Map
					</button>
					<button aria-pressed={asTable} onClick={() => setTable(true)}>
						Table
					</button>
				</div>
			</div>
			{asTable ? <DomainTable state={state} top={top} levels={levels} /> : <Tiles state={state} top={top} />}
			{asTable ? <p className="legend" /> : <Legend state={state} />}
		</section>
	)
}

function Legend({ state }: { state: State }) {
	return (
		<p className="legend" aria-hidden="true">
			<span>
				<i className="key full" /> ready
			</span>
			<span>
				<i className="key part" /> placed, not ready
			</span>
			<span>
				<i className="key none" /> free {state.model.unit === 'gpu' ? 'GPU' : 'CPU'}
			</span>
			<span>
				<i className="key cordoned" /> takes no new pods
			</span>
			<span>
				<i className="key down" /> node not ready
			</span>
			{(state.selection || state.answer) && (
				<span>
					<i className="key miss" /> closest
				</span>
			)}
			{state.ghosts.size > 0 && (
				<span>
					<i className="key ghost" /> would be here
				</span>
			)}
		</p>
	)
}

function useSize(ref: React.RefObject<HTMLDivElement>) {
	const [size, setSize] = useState({ w: 0, h: 0 })
	useLayoutEffect(() => {
		const element = ref.current
		if (!element) return
		const look = () =>
			setSize(old => {
				const w = element.clientWidth,
					h = element.clientHeight
				return old.w === w && old.h === h ? old : { w, h }
			})
		look()
		const observer = new ResizeObserver(look)
		observer.observe(element)
		return () => observer.disconnect()
	}, [ref])
	return size
}

function prepare(canvas: HTMLCanvasElement, layout: Layout): CanvasRenderingContext2D {
	const ratio = window.devicePixelRatio || 1
	const w = Math.round(layout.width * ratio),
		h = Math.round(layout.height * ratio)
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w
		canvas.height = h
		canvas.style.width = layout.width + 'px'
		canvas.style.height = layout.height + 'px'
	}
	const context = canvas.getContext('2d') as CanvasRenderingContext2D
	context.setTransform(ratio, 0, 0, ratio, 0, 0)
	return context
}

function Tiles({ state, top }: { state: State; top: Domain }) {
	const frame = useRef<HTMLDivElement>(null),
		below = useRef<HTMLCanvasElement>(null),
		above = useRef<HTMLCanvasElement>(null)
	const size = useSize(frame)
	const [hover, setHover] = useState<{ spot: Spot; rect: Rect; x: number; y: number } | null>(null)
	const [focus, setFocus] = useState<Spot | null>(null)
	const [focused, setFocused] = useState(false)
	const model = state.model,
		lit = state.litGang(),
		{ levels } = state.tree()
	const paint = useMemo(() => paintFor(state.dark), [state.dark])
	const layout = useMemo(() => (size.w > 0 ? layoutDomains(top, size.w, size.h) : null), [top, size])
	const scene = useMemo<Scene | null>(
		() => layout && { model, layout, paint, hues: state.hues, lit, ghosts: state.ghosts },
		[model, layout, paint, state.hues, lit, state.ghosts],
	)
	const rectOf = (spot: Spot | null): Rect | null =>
		spot && layout
			? ((spot.node ? layout.byNode.get(spot.node) : layout.byDomain.get(spot.domain.id)) ?? null)
			: null

	useLayoutEffect(() => {
		if (!scene || !below.current) return
		drawAll(prepare(below.current, scene.layout), scene)
		model.dirty.clear()
	}, [scene])
	useEffect(() => {
		if (!scene) return
		let due = 0
		const draw = () => {
			due = 0
			if (!below.current || state.model !== scene.model) return
			const context = below.current.getContext('2d') as CanvasRenderingContext2D
			for (const name of scene.model.dirty) {
				const tile = scene.layout.byNode.get(name)
				if (tile) drawTile(context, scene, tile)
			}
			scene.model.dirty.clear()
		}
		const stop = state.onDraw(() => (due ||= requestAnimationFrame(draw)))
		return () => {
			stop()
			cancelAnimationFrame(due)
		}
	}, [scene])
	const node =
		state.selection?.kind === 'node'
			? state.selection.name
			: state.selection?.kind === 'pod'
				? (model.pods.get(state.selection.name)?.on ?? null)
				: null
	useLayoutEffect(() => {
		if (!layout || !above.current) return
		const marks = { hover: hover?.rect ?? null, focus: focused ? rectOf(focus) : null, misses: misses(state), node }
		drawMarks(prepare(above.current, layout), layout, paint, marks)
	})

	const spotAt = (event: MouseEvent): { spot: Spot; rect: Rect } | null => {
		if (!layout || !above.current) return null
		const bounds = above.current.getBoundingClientRect()
		const x = event.clientX - bounds.left,
			y = event.clientY - bounds.top
		const tile = tileAt(layout, x, y)
		if (tile) return { spot: { domain: tile.domain, node: tile.node }, rect: tile }
		const box = boxAt(layout, x, y)
		return box && { spot: { domain: box.domain, node: null }, rect: box }
	}
	const act = (spot: Spot) => {
		if (!spot.node) {
			state.zoomTo(spot.domain === top ? (spot.domain.parent?.id ?? '') : spot.domain.id)
			return
		}
		const gangs = [...new Set(podsOnNode(model, spot.node).map(gangOf))].filter(Boolean)
		const again = gangs.indexOf(lit ?? '')
		// A node with several gangs shows them one after the other.
		if (gangs.length && again < gangs.length - 1) state.select({ kind: 'gang', name: gangs[again + 1] })
		else state.select({ kind: 'node', name: spot.node })
	}
	const onKey = (event: KeyboardEvent) => {
		const at =
			focus && (focus.domain === top || findDomain(top, domain => domain === focus.domain))
				? focus
				: { domain: top, node: null }
		if (event.key === 'Enter' || event.key === ' ') {
			event.preventDefault()
			act(at)
		} else if (event.key === 'Backspace' && top.parent) {
			state.zoomTo(top.parent.id)
		} else {
			const next = step(at, event.key, top)
			if (next) {
				event.preventDefault()
				setFocus(next)
			}
		}
	}
	const at = focus ?? { domain: top, node: null }
	const siblings = at.node ? at.domain.nodes.length : (at.domain.parent?.children.length ?? 1)
	const index = at.node
		? at.domain.nodes.findIndex(each => each.n === at.node)
		: (at.domain.parent?.children.indexOf(at.domain) ?? 0)
	return (
		<div
			className="tiles"
			ref={frame}
			role="tree"
			tabIndex={0}
			aria-label="Cluster. Arrow keys move, Enter opens."
			aria-activedescendant="map-spot"
			onKeyDown={onKey}
			onFocus={() => setFocused(true)}
			onBlur={() => setFocused(false)}
			onMouseMove={event => {
				const found = spotAt(event)
				setHover(found && { ...found, x: event.clientX, y: event.clientY })
			}}
			onMouseLeave={() => setHover(null)}
			onClick={event => {
				const found = spotAt(event)
				if (found) {
					setFocus(found.spot)
					act(found.spot)
				}
			}}
		>
			<canvas ref={below} aria-hidden="true" />
			<canvas ref={above} className="above" aria-hidden="true" />
			<div
				id="map-spot"
				className="unseen"
				role="treeitem"
				aria-selected={true}
				aria-level={at.domain.level + (at.node ? 3 : 2)}
				aria-setsize={siblings}
				aria-posinset={index + 1}
			>
				{describe(model, at, levels)}
			</div>
			{hover && <Tip state={state} spot={hover.spot} x={hover.x} y={hover.y} />}
		</div>
	)
}

function Tip({ state, spot, x, y }: { state: State; spot: Spot; x: number; y: number }) {
	const model = state.model,
		{ levels } = state.tree()
	const gangs = new Map<string, number>()
	if (spot.node)
		for (const pod of podsOnNode(model, spot.node)) {
			const name = gangOf(pod) || pod.n
			gangs.set(name, (gangs.get(name) ?? 0) + 1)
		}
	const left = x > window.innerWidth - 300,
		over = y > window.innerHeight - 220
	return (
		<div
			className="tip"
			aria-hidden="true"
			style={{
				left: left ? undefined : x + 14,
				right: left ? window.innerWidth - x + 14 : undefined,
				top: over ? undefined : y + 14,
				bottom: over ? window.innerHeight - y + 14 : undefined,
			}}
		>
			<strong>{spot.node ?? spot.domain.name}</strong>
			<span>{describe(model, spot, levels).split(', ').slice(1, 3).join(' · ')}</span>
			{[...gangs].slice(0, 8).map(([name, count]) => (
				<span key={name} className="tip-gang">
					<i className={model.groups.has(name) ? `swatch ${hueClass(state.hues.of(name))}` : 'swatch single'} />{' '}
					{titleOf(model, name)} {count > 1 && <em>×{count}</em>}
				</span>
			))}
			{gangs.size > 8 && <span>and {gangs.size - 8} more</span>}
		</div>
	)
}
