// Going back in time: the last changes with what was there before, and a second model that is moved along them.
import { gangName, gangOf, Model, shortName } from './model'
import { isGone, LiveRecord, PodRecord, GroupRecord, NodeRecord, WireChange, WireRecord } from './wire'

export interface Change {
	at: number // milliseconds
	before: LiveRecord | null
	after: WireRecord
}

const MOST = 20_000

export class History {
	changes: Change[] = []
	dropped = 0 // changes before the first one that is kept
	forgotten = 0 // changes that the server had no longer when the page was opened
	teller: Teller

	constructor(private titleOf: (gang: string) => string = shortName) {
		this.teller = new Teller(titleOf)
	}

	load(changes: WireChange[], forgotten = 0) {
		this.forgotten = forgotten
		this.changes = changes.map(([at, before, after]) => ({ at, before, after }))
		this.dropped = 0
		this.teller = new Teller(this.titleOf)
		this.changes.forEach((change, i) => this.teller.add(change, i + 1))
	}

	add(at: number, before: LiveRecord | null, after: WireRecord) {
		const change = { at, before, after }
		this.changes.push(change)
		this.teller.add(change, this.end)
		if (this.changes.length > MOST + MOST / 4) {
			this.dropped += this.changes.length - MOST
			this.changes = this.changes.slice(-MOST)
			this.teller.drop(this.dropped)
		}
	}

	/** Whether everything since the start of the server is here. */
	get complete(): boolean {
		return this.forgotten + this.dropped === 0
	}

	get end(): number {
		return this.dropped + this.changes.length
	}

	/** Number of changes up to and including this time. */
	positionAt(time: number): number {
		let low = 0,
			high = this.changes.length
		while (low < high) {
			const middle = (low + high) >> 1
			if (this.changes[middle].at <= time) low = middle + 1
			else high = middle
		}
		return this.dropped + low
	}
}

/** The cluster at another time. */
export class Past {
	model!: Model
	position = 0

	constructor(
		private live: Model,
		private history: History,
	) {
		this.begin()
	}

	private begin() {
		this.model = Model.from(this.live.all())
		this.position = this.history.end
	}

	moveTo(time: number) {
		// Meanwhile so much may have happened that the way from here is forgotten.
		if (this.position < this.history.dropped) this.begin()
		const target = Math.max(this.history.positionAt(time), this.history.dropped)
		const at = (position: number) => this.history.changes[position - this.history.dropped]
		while (this.position > target) {
			const change = at(--this.position)
			this.model.apply(change.before ?? { k: change.after.k, n: change.after.n, gone: true })
		}
		while (this.position < target) this.model.apply(at(this.position++).after)
	}
}

/* ---- in words ---- */

export interface Happening {
	at: number
	kind: 'placed' | 'left' | 'waits' | 'trouble' | 'other'
	text: string
	gang?: string
	count: number
	position: number // of its last change
}

function ofPod(before: PodRecord | null, after: PodRecord | null): { kind: Happening['kind']; what: string } | null {
	const was = before?.on,
		is = after?.on
	if (after && is && !was) return { kind: 'placed', what: 'placed' }
	if (after && before && after.ph === 'F' && before.ph !== 'F') return { kind: 'trouble', what: 'failed' }
	if (after && before && after.ph === 'S' && before.ph !== 'S') return { kind: 'left', what: 'finished' }
	if (before && after && after.del && !before.del && was) return { kind: 'left', what: 'leaving' }
	if (before && !after && was && before.ph !== 'S' && before.ph !== 'F' && !before.del)
		return { kind: 'left', what: 'gone' }
	return null
}

function ofGroup(
	before: GroupRecord | null,
	after: GroupRecord | null,
): { kind: Happening['kind']; text: string } | null {
	const group = after ?? before,
		name = group ? gangName(group) : ''
	if (!before && after) return { kind: 'other', text: `${name} was created` }
	if (before && !after) return { kind: 'left', text: `${name} was deleted` }
	if (!before || !after || before.phase === after.phase) return null
	if (['Waiting', 'Blocked', 'Never', 'Undecided'].includes(after.phase))
		return { kind: 'waits', text: `${name} waits: ${after.why?.[0]?.message ?? after.message ?? ''}` }
	if (after.phase === 'Failed') return { kind: 'trouble', text: `${name} failed` }
	return { kind: after.phase === 'Running' ? 'placed' : 'other', text: `${name} is now ${after.phase}` }
}

function ofNode(before: NodeRecord | null, after: NodeRecord | null): { kind: Happening['kind']; text: string } | null {
	const name = (after ?? before)?.n ?? ''
	if (!before) return { kind: 'other', text: `node ${name} joined` }
	if (!after) return { kind: 'trouble', text: `node ${name} is gone` }
	if (!before.down !== !after.down)
		return after.down
			? { kind: 'trouble', text: `node ${name} is not ready` }
			: { kind: 'other', text: `node ${name} is ready again` }
	if (!before.cordoned !== !after.cordoned)
		return { kind: 'other', text: `node ${name} ${after.cordoned ? 'takes no new pods' : 'takes pods again'}` }
	return null
}

const TOGETHER = 1500 // milliseconds: pods of one gang to which the same happens within this are one line

/** Turns changes into lines, one by one. Changes that mean nothing to people are left out. */
export class Teller {
	list: Happening[] = [] // oldest first
	private open = new Map<string, Happening>() // pods of one gang that may still be joined

	constructor(private titleOf: (gang: string) => string) {}

	add(change: Change, position: number) {
		const after = isGone(change.after) ? null : change.after
		if (change.after.k === 'p') {
			this.addPod(change, after as PodRecord | null, position)
			return
		}
		const told =
			change.after.k === 'g'
				? ofGroup(change.before as GroupRecord | null, after as GroupRecord | null)
				: change.after.k === 'n'
					? ofNode(change.before as NodeRecord | null, after as NodeRecord | null)
					: null
		if (!told) return
		const made: Happening = { at: change.at, kind: told.kind, text: told.text, count: 1, position }
		if (change.after.k === 'g') made.gang = change.after.n
		this.list.push(made)
	}

	private addPod(change: Change, after: PodRecord | null, position: number) {
		const pod = ofPod(change.before as PodRecord | null, after)
		if (!pod) return
		const record = (after ?? change.before) as PodRecord
		const gang = gangOf(record),
			key = pod.what + ' ' + (gang || record.n)
		const same = this.open.get(key)
		if (same && gang && change.at - same.at < TOGETHER) {
			same.count++
			same.position = position
			same.text = `${same.count} pods of ${this.titleOf(gang)} ${pod.what}`
			return
		}
		const where = record.on && pod.what === 'placed' ? ' on ' + record.on : ''
		const made: Happening = {
			at: change.at,
			kind: pod.kind,
			text: `${shortName(record.n)} ${pod.what}${where}`,
			count: 1,
			position,
		}
		if (gang) made.gang = gang
		this.open.set(key, made)
		this.list.push(made)
		if (this.open.size > 1000) this.open.clear()
	}

	/** Lines of changes up to this position are forgotten. */
	drop(position: number) {
		this.list = this.list.filter(item => item.position > position)
	}
}
