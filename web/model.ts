// The cluster as the page knows it: records by name, and what is counted from them, kept up to date record by record.
import {
	GroupRecord,
	isGone,
	LiveRecord,
	NodeRecord,
	PodRecord,
	PolicyRecord,
	QueueRecord,
	RbgRecord,
	SegmentRule,
	TopologyRecord,
	WireRecord,
} from './wire'

/** Pods of one leaf of a gang, or of a gang as a whole. */
export interface Counts {
	pods: number
	placed: number
	ready: number
}

export interface Totals {
	gpu: number
	gpuUsed: number
	cpu: number
	cpuUsed: number
	down: number
	placed: number
	waiting: number
}

export type RecordKind = LiveRecord['k']

export function spaceOf(name: string): string {
	return name.slice(0, name.indexOf('/'))
}

export function shortName(name: string): string {
	return name.slice(name.indexOf('/') + 1)
}

/** What people call it: groups made for a workload have its name and a uid behind it. */
export function gangName(group: GroupRecord): string {
	const name = shortName(group.n),
		owner = group.owner?.slice(group.owner.indexOf('/') + 1)
	if (!owner || !name.startsWith(`pg-${owner}-`)) return name
	// What stands behind the uid tells several groups of one workload apart.
	return owner + name.slice(`pg-${owner}-`.length).replace(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '')
}

/** Full name of the gang of a pod, '' when it has none. */
export function gangOf(pod: PodRecord): string {
	return pod.g ? spaceOf(pod.n) + '/' + pod.g : ''
}

/** Whether the pod holds room on its node. */
export function isPlaced(pod: PodRecord): boolean {
	return pod.on !== undefined && pod.ph !== 'S' && pod.ph !== 'F'
}

function isOver(pod: PodRecord): boolean {
	return pod.ph === 'S' || pod.ph === 'F'
}

function addTo(map: Map<string, Set<string>>, key: string, value: string) {
	const set = map.get(key)
	if (set) set.add(value)
	else map.set(key, new Set([value]))
}

function takeFrom(map: Map<string, Set<string>>, key: string, value: string) {
	const set = map.get(key)
	if (!set) return
	set.delete(value)
	if (set.size === 0) map.delete(key)
}

export class Model {
	topologies = new Map<string, TopologyRecord>()
	nodes = new Map<string, NodeRecord>()
	pods = new Map<string, PodRecord>()
	groups = new Map<string, GroupRecord>()
	queues = new Map<string, QueueRecord>()
	rbgs = new Map<string, RbgRecord>()
	policies = new Map<string, PolicyRecord>()

	podsOn = new Map<string, Set<string>>() // by node: those that hold room there
	podsOf = new Map<string, Set<string>>() // by gang
	podsOfRbg = new Map<string, Set<string>>()
	counts = new Map<string, Map<string, Counts>>() // by gang, then by leaf; '' is a gang that is its own leaf
	totals: Totals = { gpu: 0, gpuUsed: 0, cpu: 0, cpuUsed: 0, down: 0, placed: 0, waiting: 0 }

	/** Grows when nodes come, go or move, or a Topology changes: the map has another shape then. */
	shape = 0
	/** Nodes of which something else has changed since it was last cleared. */
	dirty = new Set<string>()
	/** Grows with every record. */
	version = 0
	/** Grow with records of these kinds only, for what is expensive to derive. */
	versions: Record<RecordKind, number> = { t: 0, n: 0, p: 0, g: 0, q: 0, r: 0, y: 0 }

	private table(kind: RecordKind): Map<string, LiveRecord> {
		const tables = {
			t: this.topologies,
			n: this.nodes,
			p: this.pods,
			g: this.groups,
			q: this.queues,
			r: this.rbgs,
			y: this.policies,
		}
		return tables[kind] as Map<string, LiveRecord>
	}

	get(kind: RecordKind, name: string): LiveRecord | undefined {
		return this.table(kind).get(name)
	}

	all(): LiveRecord[] {
		const lists = (['t', 'n', 'q', 'g', 'p', 'r', 'y'] as RecordKind[]).map(kind => [...this.table(kind).values()])
		return lists.flat()
	}

	/** What was there before, null for nothing. */
	apply(record: WireRecord): LiveRecord | null {
		const table = this.table(record.k)
		const before = table.get(record.n) ?? null
		const now = isGone(record) ? null : record
		if (now) table.set(record.n, now)
		else table.delete(record.n)
		this.version++
		this.versions[record.k]++
		if (record.k === 't') this.shape++
		if (record.k === 'n') this.nodeChanged(before as NodeRecord | null, now as NodeRecord | null)
		if (record.k === 'p') this.podChanged(before as PodRecord | null, now as PodRecord | null)
		return before
	}

	private nodeChanged(before: NodeRecord | null, now: NodeRecord | null) {
		for (const [node, sign] of [
			[before, -1],
			[now, 1],
		] as const) {
			if (!node) continue
			this.totals.gpu += sign * (node.gpu ?? 0)
			this.totals.cpu += sign * (node.cpu ?? 0)
			this.totals.down += sign * (node.down ? 1 : 0)
		}
		const same =
			before && now && before.gpu === now.gpu && JSON.stringify(before.labels) === JSON.stringify(now.labels)
		if (same) this.dirty.add(now.n)
		else this.shape++
	}

	private podChanged(before: PodRecord | null, now: PodRecord | null) {
		if (before) this.count(before, -1)
		if (now) this.count(now, 1)
		for (const pod of [before, now]) if (pod?.on) this.dirty.add(pod.on)
	}

	private count(pod: PodRecord, sign: 1 | -1) {
		const placed = isPlaced(pod),
			change = sign > 0 ? addTo : takeFrom
		if (placed) {
			change(this.podsOn, pod.on as string, pod.n)
			this.totals.gpuUsed += sign * (pod.gpu ?? 0)
			this.totals.cpuUsed += sign * (pod.cpu ?? 0)
			this.totals.placed += sign
		} else if (!isOver(pod)) {
			this.totals.waiting += sign
		}
		if (pod.rbg) change(this.podsOfRbg, spaceOf(pod.n) + '/' + pod.rbg, pod.n)
		const gang = gangOf(pod)
		if (!gang) return
		change(this.podsOf, gang, pod.n)
		let leaves = this.counts.get(gang)
		if (!leaves) this.counts.set(gang, (leaves = new Map()))
		const leaf = pod.s ?? ''
		let counts = leaves.get(leaf)
		if (!counts) leaves.set(leaf, (counts = { pods: 0, placed: 0, ready: 0 }))
		counts.pods += sign * (isOver(pod) ? 0 : 1)
		counts.placed += placed ? sign : 0
		counts.ready += placed && pod.ok ? sign : 0
		if (!this.podsOf.has(gang)) this.counts.delete(gang)
	}

	/** Of a gang as a whole. */
	countsOf(gang: string): Counts {
		const sum: Counts = { pods: 0, placed: 0, ready: 0 }
		for (const counts of this.counts.get(gang)?.values() ?? []) {
			sum.pods += counts.pods
			sum.placed += counts.placed
			sum.ready += counts.ready
		}
		return sum
	}

	/** What tiles are divided into: GPUs, or CPUs where nothing has GPUs. */
	get unit(): 'gpu' | 'cpu' {
		return this.totals.gpu > 0 || this.totals.cpu === 0 ? 'gpu' : 'cpu'
	}

	rulesOf(rbg: RbgRecord): SegmentRule[] {
		const rules = [...rbg.rules]
		for (const policy of this.policies.values()) if (policy.target === rbg.n) rules.push(...(policy.rules ?? []))
		return rules
	}

	static from(records: Iterable<LiveRecord>): Model {
		const model = new Model()
		for (const record of records) model.apply(record)
		return model
	}
}

/** Something of the gang waits: it has no place, or not all of its pods have one. */
export function isWaiting(model: Model, group: GroupRecord): boolean {
	if (group.phase === 'Succeeded' || group.phase === 'Failed') return false
	if (group.placed !== true) return true
	const counts = model.countsOf(group.n)
	return counts.placed < counts.pods
}
