// What the server sends: one small record per object. src/control/records*.c writes them.

export interface Level {
	key: string
	alias?: string
}

export interface TopologyRecord {
	k: 't'
	n: string
	levels: Level[]
}

/** gpu and cpu in thousandths, mem in MiB. */
export interface Amounts {
	gpu?: number
	cpu?: number
	mem?: number
}

export interface NodeRecord extends Amounts {
	k: 'n'
	n: string
	labels?: Record<string, string>
	down?: boolean
	cordoned?: boolean
	bad?: boolean
}

export interface Reason {
	code: string
	message: string
	level: string | null
	domain: string | null
	have: number
	need: number
}

/** P pending, R running, S succeeded, F failed, U unknown. */
export type Phase = 'P' | 'R' | 'S' | 'F' | 'U'

export interface PodRecord extends Amounts {
	k: 'p'
	n: string
	on?: string // its node
	held?: string // a node with room reserved for it
	g?: string // name of its PodGroup, in its own namespace
	s?: string // its subgroup
	ph?: Phase
	ok?: 1 // ready
	del?: 1 // on its way out
	gated?: 1
	rbg?: string
	role?: string
	index?: number
	why?: Reason[]
	bad?: boolean
}

export interface Part {
	name: string
	parent: number
	min: number // pods of a leaf, children of a parent
	pods: number // fewest pods that satisfy it
	leaf?: boolean
	topology?: string
	required?: string
	preferred?: string
}

export interface GroupRecord {
	k: 'g'
	n: string
	phase: string
	owner?: string
	placed?: boolean
	message?: string
	since?: string
	why?: Reason[]
	queue?: string
	priority?: string
	created?: number
	tree?: Part[]
	bad?: boolean
}

/** -1 is unlimited (quota) or none (limit). */
export interface Share {
	quota: number
	limit: number
	weight: number
	used: number
	kept: number
	wanted: number
	fair: number
}

export interface QueueRecord {
	k: 'q'
	n: string
	parent?: string
	priority?: number
	gpu?: Share
	cpu?: Share
	mem?: Share
	bad?: boolean
}

export interface RoleStatus {
	name: string
	pods: number
	ready: number
	updated: number
	desired: number
	target: number
	exists: number
	message?: string
}

export interface SegmentRule {
	name: string
	sizes: Record<string, number>
	progression: string
}

export interface SegmentProgress {
	name: string
	ready: number
	started: number
	released: number
	total: number
	stuck: boolean
	held: boolean
	message?: string
}

export interface RbgRecord {
	k: 'r'
	n: string
	ready: boolean
	message?: string
	roles: RoleStatus[]
	rules: SegmentRule[]
	progress: SegmentProgress[]
	bad?: boolean
}

export interface PolicyRecord {
	k: 'y'
	n: string
	target?: string
	rules?: SegmentRule[]
	bad?: boolean
}

export interface GoneRecord {
	k: 't' | 'n' | 'p' | 'g' | 'q' | 'r' | 'y'
	n: string
	gone: true
}

export type LiveRecord = TopologyRecord | NodeRecord | PodRecord | GroupRecord | QueueRecord | RbgRecord | PolicyRecord
export type WireRecord = LiveRecord | GoneRecord

export function isGone(record: WireRecord): record is GoneRecord {
	return 'gone' in record
}

/** Milliseconds, what was there before, what is there since. */
export type WireChange = [number, LiveRecord | null, WireRecord]

export interface Snapshot {
	epoch: string
	seq: number
	now: number
	version: string
	records: LiveRecord[]
	forgotten?: number // changes that the server no longer has
	history: WireChange[]
}

export interface Piece {
	seq: number
	now: number
	records: WireRecord[]
}

export interface Problem {
	severity: 'error' | 'warning'
	where: string
	path: string
	message: string
	fix: string | null
}

export interface WhatIfAnswer {
	problems: Problem[]
	groups?: { n: string; state: string; placed: number; min: number; waiting: number; why: Reason[] }[]
	pods?: { n: string; on: string; gpus: number; later: boolean }[]
	evictions?: { n: string; on: string; by: string; action: string; moved: boolean }[]
}
