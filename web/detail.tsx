// What is selected: a gang with its tree, a node with its pods, or a pod that waits alone.
import { gangTree, headline, PartView, Place } from './gang'
import { levelName, namesDown } from './domains'
import { podsOnNode } from './draw'
import { gangName, gangOf, isWaiting, Model, shortName, spaceOf } from './model'
import { State } from './state'
import { amount, bytes, duration, GangBar, plural, Swatch } from './ui'
import { GroupRecord, Reason } from './wire'

export function Detail({ state }: { state: State }) {
	const { selection, model } = state
	if (!selection) return null
	const gang = selection.kind === 'gang' ? model.groups.get(selection.name) : undefined
	return (
		<section className="detail" aria-label={`Selected: ${shortName(selection.name)}`}>
			<div className="detail-head">
				<h2>
					{gang && <Swatch state={state} gang={gang.n} />}
					{gang ? gangName(gang) : selection.kind === 'node' ? selection.name : shortName(selection.name)}
				</h2>
				<button className="quiet" onClick={() => state.select(null)} aria-label="Close selection">
					✕
				</button>
			</div>
			{gang ? (
				<Gang state={state} group={gang} />
			) : selection.kind === 'node' ? (
				<NodeDetail state={state} name={selection.name} />
			) : selection.kind === 'pod' ? (
				<PodDetail state={state} name={selection.name} />
			) : (
				<p className="faint">It is no longer there.</p>
			)}
		</section>
	)
}

function facts(state: State, group: GroupRecord): string {
	const list = [`namespace ${spaceOf(group.n)}`]
	if (group.queue) list.push(`queue ${group.queue}`)
	if (group.priority) list.push(`priority ${group.priority}`)
	if (group.owner) list.push(group.owner)
	if (gangName(group) !== shortName(group.n)) list.push(`PodGroup ${shortName(group.n)}`)
	if (group.created) list.push(`${duration(state.now() - group.created * 1000)} old`)
	return list.join(' · ')
}

function Gang({ state, group }: { state: State; group: GroupRecord }) {
	const { model } = state
	const views = gangTree(model, group, state.tree().byNode)
	return (
		<>
			<p className="faint">{facts(state, group)}</p>
			{isWaiting(model, group) && <Why reasons={group.why} fallback={headline(group)} />}
			{views.length > 0 && (
				<table className="gang-tree">
					<caption className="unseen">Parts of {shortName(group.n)}</caption>
					<thead>
						<tr>
							<th scope="col">part</th>
							<th scope="col" className="number">
								min
							</th>
							<th scope="col" className="number">
								placed
							</th>
							<th scope="col" className="number">
								ready
							</th>
							<th scope="col" className="wide">
								where
							</th>
						</tr>
					</thead>
					<tbody>
						{views.map((view, i) => (
							<PartRow
								key={i}
								view={view}
								hue={state.hues.of(group.n)}
								root={i === 0}
								name={gangName(group)}
							/>
						))}
					</tbody>
				</table>
			)}
		</>
	)
}

function PartRow({ view, hue, root, name }: { view: PartView; hue: number; root: boolean; name: string }) {
	const { part } = view
	const level = part.required ?? part.preferred
	return (
		<tr className={view.satisfied ? 'met' : 'unmet'}>
			<th scope="row" style={{ paddingLeft: 4 + 14 * view.depth }}>
				<span className="part">{root ? name : part.name || '(set)'}</span>
				{level && (
					<span className="constraint" title={`${part.required ? 'must' : 'should'} be in one ${level}`}>
						{part.required ? 'one ' : 'prefers one '}
						{levelName({ key: level })}
					</span>
				)}
				<GangBar {...view} min={part.pods} hue={hue} />
			</th>
			<td className="number">
				{part.leaf ? (
					part.min
				) : (
					<span title={`${part.min} of ${view.children.length} parts must have their minimum`}>
						{part.pods}
					</span>
				)}
			</td>
			<td className="number">
				{view.placed}
				<span className="faint">/{view.pods}</span>
			</td>
			<td className="number">{view.ready}</td>
			<td className="wide">
				{part.leaf ? (
					<Where places={view.places} />
				) : (
					<span className="faint">
						{view.met} of {part.min} parts
					</span>
				)}
			</td>
		</tr>
	)
}

function Where({ places }: { places: Place[] }) {
	if (!places.length) return <span className="faint">nowhere yet</span>
	return (
		<>
			{places.slice(0, 3).map(place => (
				<span className="place" key={place.path.join('/')} title={place.path.join(' › ')}>
					{place.name} <em>×{place.pods}</em>
				</span>
			))}
			{places.length > 3 && <span className="faint">and {places.length - 3} more</span>}
		</>
	)
}

/** The engine's words: first what is missing, then what would help, then the rest. */
export function Why({ reasons, fallback }: { reasons?: Reason[]; fallback: string }) {
	if (!reasons?.length) return <p className="why-first">{fallback}</p>
	const helps = (reason: Reason) => reason.code === 'WouldFit' || reason.code === 'MinRuntime'
	const help = reasons.filter(helps),
		rest = reasons.filter(reason => !helps(reason))
	return (
		<div className="why">
			<p className="why-first">{rest[0]?.message ?? help[0].message}</p>
			{help.length > 0 && rest.length > 0 && (
				<ul className="why-help" aria-label="What would help">
					{help.map(reason => (
						<li key={reason.message}>{reason.message}</li>
					))}
				</ul>
			)}
			{rest.length > 1 && (
				<ul className="why-more">
					{rest.slice(1).map(reason => (
						<li key={reason.message}>{reason.message}</li>
					))}
				</ul>
			)}
		</div>
	)
}

function used(model: Model, name: string, unit: 'gpu' | 'cpu' | 'mem'): number {
	return podsOnNode(model, name).reduce((sum, pod) => sum + (pod[unit] ?? 0), 0)
}

function NodeDetail({ state, name }: { state: State; name: string }) {
	const { model } = state,
		node = model.nodes.get(name)
	if (!node) return <p className="faint">It is no longer there.</p>
	const pods = podsOnNode(model, name),
		place = namesDown(state.tree().byNode.get(name))
	return (
		<>
			<p className="faint">
				{[...place, node.down ? 'not ready' : 'ready', ...(node.cordoned ? ['takes no new pods'] : [])].join(
					' · ',
				)}
			</p>
			<dl className="numbers">
				{node.gpu !== undefined && (
					<>
						<dt>GPUs</dt>
						<dd>
							{amount(used(model, name, 'gpu'))} of {amount(node.gpu)}
						</dd>
					</>
				)}
				{node.cpu !== undefined && (
					<>
						<dt>CPUs</dt>
						<dd>
							{amount(used(model, name, 'cpu'))} of {amount(node.cpu)}
						</dd>
					</>
				)}
				{node.mem !== undefined && (
					<>
						<dt>Memory</dt>
						<dd>
							{bytes(used(model, name, 'mem') * 1048576)} of {bytes(node.mem * 1048576)}
						</dd>
					</>
				)}
			</dl>
			<ul className="pods">
				{pods.slice(0, 40).map(pod => (
					<li key={pod.n}>
						{gangOf(pod) ? (
							<button className="link" onClick={() => state.select({ kind: 'gang', name: gangOf(pod) })}>
								<Swatch state={state} gang={gangOf(pod)} />
								{shortName(pod.n)}
							</button>
						) : (
							shortName(pod.n)
						)}
						<span className="faint">
							{' '}
							{pod.gpu ? plural(pod.gpu / 1000, 'GPU') : ''}
							{pod.ok ? '' : ' · not ready'}
						</span>
					</li>
				))}
				{pods.length === 0 && <li className="faint">No pods.</li>}
				{pods.length > 40 && <li className="faint">and {pods.length - 40} more</li>}
			</ul>
		</>
	)
}

function PodDetail({ state, name }: { state: State; name: string }) {
	const pod = state.model.pods.get(name)
	if (!pod) return <p className="faint">It is no longer there.</p>
	if (pod.on)
		return (
			<p>
				A pod without a group, on node{' '}
				<button className="link" onClick={() => state.select({ kind: 'node', name: pod.on as string })}>
					{pod.on}
				</button>
				.
			</p>
		)
	return <Why reasons={pod.why} fallback="The scheduler has not looked at it yet." />
}
