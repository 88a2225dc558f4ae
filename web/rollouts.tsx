// RoleBasedGroups: segments that fill up, role by role, and how that went over time.
import { useMemo } from 'react'
import { History } from './history'
import { isPlaced, Model, shortName } from './model'
import { State } from './state'
import { Empty, plural } from './ui'
import { RbgRecord, SegmentRule } from './wire'

export interface RoleFill {
	role: string
	want: number // instances of this segment
	ready: number
	placed: number
}

/** In the order of the roles. */
function sizesOf(rbg: RbgRecord, rule: SegmentRule): [string, number][] {
	const place = (role: string) => rbg.roles.findIndex(each => each.name === role)
	return Object.entries(rule.sizes).sort((a, b) => place(a[0]) - place(b[0]))
}

/** Every segment of a rule: how many instances of each role it has, and how far they are. */
export function segmentsOf(model: Model, rbg: RbgRecord, rule: SegmentRule): RoleFill[][] {
	const state = new Map<string, Map<number, { ready: boolean; placed: boolean }>>()
	for (const name of model.podsOfRbg.get(rbg.n) ?? []) {
		const pod = model.pods.get(name)
		if (!pod?.role || pod.index === undefined || pod.del) continue
		const role = state.get(pod.role) ?? new Map<number, { ready: boolean; placed: boolean }>()
		const known = role.get(pod.index)
		// An instance of several pods is as far as the last of them.
		role.set(pod.index, {
			ready: (known?.ready ?? true) && !!pod.ok,
			placed: (known?.placed ?? true) && isPlaced(pod),
		})
		state.set(pod.role, role)
	}
	const roles = sizesOf(rbg, rule).map(([role, size]) => ({
		role,
		size: Math.max(1, size),
		desired: rbg.roles.find(each => each.name === role)?.desired ?? 0,
	}))
	const total = Math.max(0, ...roles.map(role => Math.ceil(role.desired / role.size)))
	return Array.from({ length: total }, (_, i) =>
		roles.map(({ role, size, desired }) => {
			const fill: RoleFill = {
				role,
				want: Math.max(0, Math.min(desired, (i + 1) * size) - i * size),
				ready: 0,
				placed: 0,
			}
			for (let index = i * size; index < i * size + fill.want; index++) {
				const instance = state.get(role)?.get(index)
				fill.ready += instance?.ready ? 1 : 0
				fill.placed += instance?.placed ? 1 : 0
			}
			return fill
		}),
	)
}

/** Ready instances of each role over time, from the changes that are kept: [ms, ready, wanted]. */
export function readyOverTime(history: History, name: string): [number, number, number][] {
	const points: [number, number, number][] = []
	const count = (rbg: RbgRecord) =>
		rbg.roles.reduce((sum, role) => [sum[0] + role.ready, sum[1] + role.desired], [0, 0])
	for (const change of history.changes) {
		if (change.after.k !== 'r' || change.after.n !== name || 'gone' in change.after) continue
		const [ready, wanted] = count(change.after as RbgRecord)
		points.push([change.at, ready, wanted])
	}
	return points
}

export function Rollouts({ state }: { state: State }) {
	const { model } = state
	const list = [...model.rbgs.values()].sort((a, b) => (a.n < b.n ? -1 : 1))
	if (!list.length)
		return <Empty title="There are no RoleBasedGroups.">Try: kubectl apply -f examples/rbg-segments.yaml</Empty>
	return (
		<div className="scroll">
			{list.map(rbg => (
				<Rollout key={rbg.n} state={state} rbg={rbg} />
			))}
		</div>
	)
}

function Rollout({ state, rbg }: { state: State; rbg: RbgRecord }) {
	const { model } = state
	const rules = model.rulesOf(rbg)
	return (
		<article className="rollout">
			<h2>
				{shortName(rbg.n)}{' '}
				<span className={'phase ' + (rbg.ready ? 'running' : 'pending')}>
					{rbg.ready ? 'Ready' : 'In progress'}
				</span>
			</h2>
			{rbg.message && <p className="faint">{rbg.message}</p>}
			<ReadyLine state={state} name={rbg.n} />
			<ul className="roles" role="list">
				{rbg.roles.map(role => (
					<li key={role.name}>
						<strong>{role.name}</strong> {role.ready}/{role.desired} ready
						{role.target < role.desired && <span className="faint"> · now up to {role.target}</span>}
						{role.message && <span className="faint"> · {role.message}</span>}
					</li>
				))}
			</ul>
			{rules.map(rule => (
				<Segments key={rule.name} model={model} rbg={rbg} rule={rule} />
			))}
		</article>
	)
}

const MOST_SEGMENTS = 400

function Segments({ model, rbg, rule }: { model: Model; rbg: RbgRecord; rule: SegmentRule }) {
	const segments = segmentsOf(model, rbg, rule),
		progress = rbg.progress.find(each => each.name === rule.name)
	const whole = segments.filter(roles => roles.every(role => role.ready === role.want)).length
	return (
		<figure className="segments">
			<figcaption>
				<strong>{rule.name}</strong> {whole} of {plural(segments.length, 'segment')} ready
				<span className="faint">
					{' '}
					· {rule.progression} ·{' '}
					{sizesOf(rbg, rule)
						.map(([role, size]) => `${size} ${role}`)
						.join(' + ')}{' '}
					each
				</span>
				{progress?.stuck && <span className="trouble"> · stuck</span>}
				{progress?.held && <span className="trouble"> · waits for approval</span>}
				{progress?.message && <span className="faint"> · {progress.message}</span>}
			</figcaption>
			<ol>
				{segments.slice(0, MOST_SEGMENTS).map((roles, i) => (
					<li
						key={i}
						className={roles.every(role => role.ready === role.want) ? 'whole' : ''}
						title={roles.map(role => `${role.role} ${role.ready}/${role.want}`).join(', ')}
					>
						<span className="unseen">
							segment {i + 1}:{' '}
							{roles.map(role => `${role.role} ${role.ready} of ${role.want} ready`).join(', ')}
						</span>
						{roles.map(role => (
							<span className="fill" key={role.role} aria-hidden="true">
								<span
									className="fill-placed"
									style={{ height: `${role.want ? (100 * role.placed) / role.want : 0}%` }}
								/>
								<span
									className="fill-ready"
									style={{ height: `${role.want ? (100 * role.ready) / role.want : 0}%` }}
								/>
							</span>
						))}
					</li>
				))}
			</ol>
			{segments.length > MOST_SEGMENTS && <p className="faint">and {segments.length - MOST_SEGMENTS} more</p>}
		</figure>
	)
}

function ReadyLine({ state, name }: { state: State; name: string }) {
	const points = useMemo(() => readyOverTime(state.history, name), [state.history.end, name, state.stamp])
	if (points.length < 2) return null
	const first = points[0][0],
		last = Math.max(state.now(), first + 1),
		most = Math.max(1, ...points.map(point => point[2]))
	const x = (at: number) => (300 * (at - first)) / (last - first),
		y = (value: number) => 34 - (32 * value) / most
	let path = `M0 34`
	let height = y(points[0][1])
	for (const [at, ready] of points) {
		path += `L${x(at).toFixed(1)} ${height.toFixed(1)}`
		height = y(ready)
		path += `L${x(at).toFixed(1)} ${height.toFixed(1)}`
	}
	path += `L300 ${height.toFixed(1)}`
	return (
		<svg
			className="ready-line"
			viewBox="0 0 300 36"
			preserveAspectRatio="none"
			role="img"
			aria-label={`Ready over time: ${points[points.length - 1][1]} of ${points[points.length - 1][2]} now`}
		>
			<path d={path + 'L300 34Z'} className="area" />
			<path d={path} className="line" />
			{state.time !== null && <line x1={x(state.time)} x2={x(state.time)} y1="0" y2="36" className="playhead" />}
		</svg>
	)
}
