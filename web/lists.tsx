// Lists of the panel: what waits, all gangs, and what happened.
import { useMemo, useState } from 'react'
import { headline } from './gang'
import { Happening } from './history'
import { gangName, isWaiting, Model, shortName, spaceOf } from './model'
import { State } from './state'
import { clockTime, duration, Empty, GangBar, plural, Rows, Swatch } from './ui'
import { GroupRecord, PodRecord } from './wire'

/** Longest waiting first. */
export function waitingList(model: Model): { groups: GroupRecord[]; pods: PodRecord[] } {
	const groups = [...model.groups.values()].filter(group => isWaiting(model, group))
	groups.sort(
		(a, b) =>
			Number(!!a.placed) - Number(!!b.placed) || (a.created ?? 0) - (b.created ?? 0) || (a.n < b.n ? -1 : 1),
	)
	const pods = [...model.pods.values()].filter(pod => !pod.g && !pod.on && pod.why)
	return { groups, pods }
}

export function useWaiting(state: State) {
	const model = state.model
	return useMemo(() => waitingList(model), [model, model.versions.g, model.versions.p])
}

/** Everything of a gang beyond its minimum may wait while the gang runs. */
function standing(model: Model, group: GroupRecord): string {
	const counts = model.countsOf(group.n),
		min = group.tree?.[0]?.pods ?? 0
	if (group.placed) return `runs with ${counts.placed} of ${counts.pods} pods; the rest waits`
	return `${plural(counts.pods, 'pod')} of at least ${min} ${counts.placed ? `, ${counts.placed} placed` : 'wait'}`
}

export function Waiting({ state }: { state: State }) {
	const { groups, pods } = useWaiting(state),
		{ model } = state
	const items: (GroupRecord | PodRecord)[] = [...groups, ...pods]
	if (!items.length) return <Empty title="Nothing waits.">Every gang has its place.</Empty>
	return (
		<Rows
			items={items}
			height={86}
			label="Waiting"
			render={item => (
				<button
					className={'card' + (state.selection?.name === item.n ? ' chosen' : '')}
					aria-pressed={state.selection?.name === item.n}
					onClick={() => state.select({ kind: item.k === 'g' ? 'gang' : 'pod', name: item.n })}
				>
					<span className="card-head">
						{item.k === 'g' ? <Swatch state={state} gang={item.n} /> : <i className="swatch single" />}
						<strong>{item.k === 'g' ? gangName(item) : shortName(item.n)}</strong>
						<span className="faint">{item.k === 'g' ? standing(model, item) : 'a pod of no group'}</span>
						{item.k === 'g' && item.created && (
							<span className="age">{duration(state.now() - item.created * 1000)}</span>
						)}
					</span>
					<span className="card-text">{headline(item)}</span>
				</button>
			)}
		/>
	)
}

/* ---- gangs ---- */

export function Gangs({ state }: { state: State }) {
	const { model } = state
	const [filter, setFilter] = useState('')
	const groups = useMemo(() => {
		const list = [...model.groups.values()].filter(group => group.n.includes(filter.trim()))
		return list.sort((a, b) => (a.n < b.n ? -1 : 1))
	}, [model, model.versions.g, filter])
	return (
		<>
			<input
				className="filter"
				type="search"
				placeholder="Filter gangs by name"
				aria-label="Filter gangs by name"
				value={filter}
				onChange={event => setFilter(event.target.value)}
			/>
			{groups.length === 0 && (
				<Empty title={filter ? 'No gang has such a name.' : 'There are no gangs.'}>
					{!filter && 'Try: kubectl apply -f examples/up-gang.yaml'}
				</Empty>
			)}
			<Rows
				items={groups}
				height={46}
				label="Gangs"
				render={group => {
					const counts = model.countsOf(group.n),
						min = group.tree?.[0]?.pods ?? 0
					return (
						<button
							className={'card slim' + (state.selection?.name === group.n ? ' chosen' : '')}
							aria-pressed={state.selection?.name === group.n}
							onClick={() => state.select({ kind: 'gang', name: group.n })}
						>
							<span className="card-head">
								<Swatch state={state} gang={group.n} />
								<strong title={group.n}>{gangName(group)}</strong>
								{group.owner && (
									<span className="faint">{group.owner.slice(0, group.owner.indexOf('/'))}</span>
								)}
								{spaceOf(group.n) !== 'default' && <span className="faint">{spaceOf(group.n)}</span>}
								<span className={'phase ' + group.phase.toLowerCase()}>{group.phase}</span>
								<span className="count">
									{counts.ready}/{counts.pods}
								</span>
							</span>
							<GangBar {...counts} min={min} hue={state.hues.of(group.n)} />
						</button>
					)
				}}
			/>
		</>
	)
}

/* ---- events ---- */

export function Events({ state }: { state: State }) {
	const [filter, setFilter] = useState('')
	const list = state.history.teller.list.filter(item => item.text.includes(filter.trim())).reverse()
	const open = (item: Happening) => {
		state.goTo(item.at)
		if (item.gang && state.model.groups.has(item.gang)) state.select({ kind: 'gang', name: item.gang })
	}
	return (
		<>
			<input
				className="filter"
				type="search"
				placeholder="Filter events"
				aria-label="Filter events"
				value={filter}
				onChange={event => setFilter(event.target.value)}
			/>
			{list.length === 0 && (
				<Empty title={filter ? 'No event says so.' : 'Nothing has happened yet.'}>
					{!filter && 'What changes from now on is listed here.'}
				</Empty>
			)}
			<Rows
				items={list}
				height={46}
				label="Events, newest first"
				render={item => (
					<button className={'event ' + item.kind} onClick={() => open(item)}>
						<time>{clockTime(item.at)}</time>
						<span title={item.text}>{item.text}</span>
					</button>
				)}
			/>
		</>
	)
}
