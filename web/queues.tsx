// Queues: what each is promised, may use, uses, and takes beyond its quota.
import { useState } from 'react'
import { compareNames } from './domains'
import { Model } from './model'
import { State } from './state'
import { amount, bytes, Empty } from './ui'
import { QueueRecord, Share } from './wire'

type Resource = 'gpu' | 'cpu' | 'mem'

export interface QueueRow {
	queue: QueueRecord
	depth: number
}

/** Parents before their children; a parent that does not exist or a circle does not hide anybody. */
export function queueTree(queues: Iterable<QueueRecord>): QueueRow[] {
	const all = [...queues].sort((a, b) => compareNames(a.n, b.n))
	const names = new Set(all.map(queue => queue.n)),
		seen = new Set<string>(),
		rows: QueueRow[] = []
	const add = (queue: QueueRecord, depth: number) => {
		if (seen.has(queue.n)) return
		seen.add(queue.n)
		rows.push({ queue, depth })
		for (const child of all) if (child.parent === queue.n) add(child, depth + 1)
	}
	for (const queue of all) if (!queue.parent || !names.has(queue.parent)) add(queue, 0)
	for (const queue of all) add(queue, 0)
	return rows
}

/** What the bars are drawn against: the whole cluster. */
function whole(model: Model, resource: Resource): number {
	if (resource === 'gpu') return model.totals.gpu
	if (resource === 'cpu') return model.totals.cpu
	let sum = 0
	for (const node of model.nodes.values()) sum += (node.mem ?? 0) * 1048576
	return sum
}

/** The part of what is used that is more than the quota. */
export function overQuota(share: Share): number {
	return share.quota < 0 ? 0 : Math.max(0, share.used - share.quota)
}

export function Queues({ state }: { state: State }) {
	const { model } = state
	const [resource, setResource] = useState<Resource>(model.unit)
	const rows = queueTree(model.queues.values())
	const show = (value: number) => (resource === 'mem' ? bytes(value) : amount(value))
	if (!rows.length) return <Empty title="There are no queues." />
	const full = Math.max(1, whole(model, resource))
	return (
		<div className="scroll">
			<div className="switch" role="group" aria-label="Resource">
				{(['gpu', 'cpu', 'mem'] as const).map(name => (
					<button key={name} aria-pressed={resource === name} onClick={() => setResource(name)}>
						{{ gpu: 'GPU', cpu: 'CPU', mem: 'Memory' }[name]}
					</button>
				))}
			</div>
			<ul className="queues" role="list">
				{rows.map(({ queue, depth }) => {
					const share = queue[resource]
					return (
						<li key={queue.n} style={{ paddingLeft: 16 * depth }}>
							<span className="queue-head">
								<strong>{queue.n}</strong>
								{share && <QueueNumbers share={share} show={show} />}
							</span>
							{share && <QueueBar share={share} full={full} />}
						</li>
					)
				})}
			</ul>
			<p className="legend">
				<span>
					<i className="key q-used" /> used
				</span>
				<span>
					<i className="key q-over" /> over quota
				</span>
				<span>
					<i className="key q-wanted" /> wanted
				</span>
				<span>
					<i className="key q-quota" /> quota
				</span>
				<span>
					<i className="key q-fair" /> fair share
				</span>
				<span>
					<i className="key q-limit" /> limit
				</span>
			</p>
		</div>
	)
}

function QueueNumbers({ share, show }: { share: Share; show: (value: number) => string }) {
	const over = overQuota(share)
	return (
		<span className="faint">
			<b>{show(share.used)}</b> used · quota {share.quota < 0 ? 'unlimited' : show(share.quota)} · fair{' '}
			{show(share.fair)}
			{share.limit >= 0 && ` · limit ${show(share.limit)}`}
			{over > 0 && <span className="over"> · {show(over)} over quota</span>}
			{share.wanted > share.used && ` · ${show(share.wanted - share.used)} waiting`}
		</span>
	)
}

function QueueBar({ share, full }: { share: Share; full: number }) {
	const at = (value: number) => `${Math.min(100, (100 * Math.max(0, value)) / full)}%`
	const over = overQuota(share)
	return (
		<span className="queue-bar" aria-hidden="true">
			{share.wanted > share.used && <span className="q-wanted" style={{ width: at(share.wanted) }} />}
			<span className="q-used" style={{ width: at(share.used - over) }} />
			{over > 0 && <span className="q-over" style={{ left: at(share.used - over), width: at(over) }} />}
			{share.quota > 0 && <span className="q-quota" style={{ left: at(share.quota) }} />}
			{share.fair > 0 && <span className="q-fair" style={{ left: at(share.fair) }} />}
			{share.limit >= 0 && <span className="q-limit" style={{ left: at(share.limit) }} />}
		</span>
	)
}
