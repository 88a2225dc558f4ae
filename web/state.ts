// Everything the page knows and what the user has chosen, in one place that components listen to.
import { useSyncExternalStore } from 'react'
import { buildDomains, Domain, domainsByNode, shownLevels, topologyNames } from './domains'
import { History, Past } from './history'
import { gangName, Model, shortName } from './model'
import { Hues } from './palette'
import { Connection, keepToken, readToken, Status } from './stream'
import { GroupRecord, Level, Piece, PodRecord, Snapshot, WhatIfAnswer } from './wire'

export type Selection = { kind: 'gang' | 'node' | 'pod'; name: string } | null
export type Tab = 'waiting' | 'gangs' | 'queues' | 'rollouts' | 'events' | 'whatif'

export interface Tree {
	root: Domain
	levels: Level[]
	byNode: Map<string, Domain>
}

const PANEL_PAUSE = 200 // milliseconds between two renderings of lists; the map follows at once

const THEME = 'platoon-theme'

function readTheme(): State['theme'] {
	try {
		const theme = localStorage.getItem(THEME)
		return theme === 'light' || theme === 'dark' ? theme : 'auto'
	} catch {
		return 'auto' // a browser may keep nothing at all
	}
}

function keepTheme(theme: State['theme']) {
	try {
		localStorage.setItem(THEME, theme)
	} catch {
		/* then it is asked again next time */
	}
}

export class State {
	live = new Model()
	past: Past | null = null
	time: number | null = null // of the past
	history = new History(gang => {
		const group = this.live.groups.get(gang)
		return group ? gangName(group) : shortName(gang)
	})
	hues = new Hues()
	status: Status = 'connecting'
	loaded = false
	version = ''
	skew = 0 // of the server's clock against ours
	selection: Selection = null
	tab: Tab = 'waiting'
	topology = ''
	zoom = '' // id of a domain
	answer: WhatIfAnswer | null = null
	ghosts = new Map<string, PodRecord[]>()
	dark: boolean
	theme: 'auto' | 'light' | 'dark'
	token = readToken()

	stamp = 0
	private panels = new Set<() => void>()
	private maps = new Set<() => void>()
	private timer: ReturnType<typeof setTimeout> | null = null
	private connection: Connection | null = null
	private cached: { model: Model; shape: number; topology: string; tree: Tree } | null = null

	constructor() {
		const media = matchMedia('(prefers-color-scheme: dark)')
		this.theme = readTheme()
		this.dark = this.theme === 'auto' ? media.matches : this.theme === 'dark'
		media.addEventListener('change', () => this.setTheme(this.theme))
		this.setTheme(this.theme)
	}

	get model(): Model {
		return this.past?.model ?? this.live
	}

	now(): number {
		return Date.now() + this.skew
	}

	/* ---- the server ---- */

	connect() {
		this.connection?.stop()
		this.status = 'connecting'
		this.connection = new Connection(this.token, {
			snapshot: snapshot => this.load(snapshot),
			piece: piece => this.apply(piece),
			status: status => {
				this.status = status
				this.changed()
			},
		})
		this.connection.start()
		this.changed()
	}

	useToken(token: string) {
		keepToken(token)
		this.token = token.trim()
		this.connect()
	}

	private load(snapshot: Snapshot) {
		this.live = Model.from(snapshot.records)
		this.history.load(snapshot.history, snapshot.forgotten ?? 0)
		this.past = null
		this.time = null
		this.version = snapshot.version
		this.skew = snapshot.now - Date.now()
		this.loaded = true
		this.giveHues()
		this.changed()
	}

	private apply(piece: Piece) {
		const before = this.live.versions.g
		this.skew = piece.now - Date.now()
		for (const record of piece.records) this.history.add(piece.now, this.live.apply(record), record)
		if (this.live.versions.g !== before) this.giveHues()
		for (const listener of this.maps) listener()
		this.changedSoon()
	}

	/** The large ones first, and otherwise in the order in which they were made: the same in every browser. */
	private giveHues() {
		this.hues.keep(gang => this.live.groups.has(gang))
		const size = (group: GroupRecord) => Math.max(1, group.tree?.[0]?.pods ?? 1)
		const groups = [...this.live.groups.values()].filter(group => !this.hues.has(group.n))
		groups.sort((a, b) => size(b) - size(a) || (a.created ?? 0) - (b.created ?? 0) || (a.n < b.n ? -1 : 1))
		for (const group of groups) this.hues.of(group.n, size(group))
	}

	/* ---- listening ---- */

	subscribe = (listener: () => void) => {
		this.panels.add(listener)
		return () => void this.panels.delete(listener)
	}

	onDraw(listener: () => void) {
		this.maps.add(listener)
		return () => void this.maps.delete(listener)
	}

	changed() {
		if (this.timer) clearTimeout(this.timer)
		this.timer = null
		this.stamp++
		for (const listener of this.panels) listener()
	}

	private changedSoon() {
		this.timer ??= setTimeout(() => this.changed(), PANEL_PAUSE)
	}

	/* ---- what the user chooses ---- */

	select(selection: Selection) {
		this.selection = selection
		this.changed()
	}

	show(tab: Tab) {
		this.tab = tab
		this.changed()
	}

	zoomTo(id: string) {
		this.zoom = id
		this.changed()
	}

	setTheme(theme: State['theme']) {
		this.theme = theme
		this.dark = theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
		document.documentElement.dataset.theme = this.dark ? 'dark' : 'light'
		keepTheme(theme)
		this.changed()
	}

	/** null: back to what is. */
	goTo(time: number | null) {
		if (time === null) this.past = null
		else {
			this.past ??= new Past(this.live, this.history)
			this.past.moveTo(time)
		}
		this.time = time
		for (const listener of this.maps) listener()
		this.changed()
	}

	setAnswer(answer: WhatIfAnswer | null) {
		this.answer = answer
		this.ghosts = new Map()
		for (const pod of answer?.pods ?? []) {
			const ghost: PodRecord = { k: 'p', n: pod.n, g: 'what-if', gpu: pod.gpus * 1000, cpu: 1000 }
			this.ghosts.set(pod.on, [...(this.ghosts.get(pod.on) ?? []), ghost])
		}
		this.changed()
	}

	/* ---- the tree of the topology that is shown ---- */

	tree(): Tree {
		const model = this.model,
			names = topologyNames(model)
		const topology = names.includes(this.topology) ? this.topology : (names[0] ?? '')
		const cached = this.cached
		if (cached && cached.model === model && cached.shape === model.shape && cached.topology === topology)
			return cached.tree
		const levels = shownLevels(model, topology)
		const root = buildDomains(model.nodes.values(), levels)
		const tree = { root, levels, byNode: domainsByNode(root) }
		this.cached = { model, shape: model.shape, topology, tree }
		return tree
	}

	/** Of what is selected, if that is or belongs to a gang. */
	litGang(): string | null {
		if (this.selection?.kind === 'gang') return this.selection.name
		return null
	}
}

/** Renders the component again whenever something has changed. */
export function useChanges(state: State): number {
	return useSyncExternalStore(state.subscribe, () => state.stamp)
}
