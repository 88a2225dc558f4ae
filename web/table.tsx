// The map as a table: what is in one domain, with numbers.
import { allNodes, Domain, levelName } from './domains'
import { podsOnNode } from './draw'
import { gangName, gangOf, Model, shortName } from './model'
import { State } from './state'
import { amount } from './ui'
import { Level } from './wire'

interface Row {
	id: string
	name: string
	nodes: string[]
	domain: Domain | null
}

const MOST = 300

function rowsOf(top: Domain): Row[] {
	if (top.children.length)
		return top.children.map(domain => ({
			id: domain.id,
			name: domain.name,
			nodes: allNodes(domain).map(node => node.n),
			domain,
		}))
	return top.nodes.map(node => ({ id: node.n, name: node.n, nodes: [node.n], domain: null }))
}

function summary(model: Model, row: Row) {
	const gangs = new Set<string>()
	let whole = 0,
		used = 0,
		pods = 0,
		down = 0
	for (const name of row.nodes) {
		const node = model.nodes.get(name)
		whole += node?.[model.unit] ?? 0
		down += node?.down ? 1 : 0
		for (const pod of podsOnNode(model, name)) {
			used += pod[model.unit] ?? 0
			pods++
			if (gangOf(pod)) gangs.add(gangOf(pod))
		}
	}
	return { whole, used, pods, down, gangs: [...gangs] }
}

export function DomainTable({ state, top, levels }: { state: State; top: Domain; levels: Level[] }) {
	const rows = rowsOf(top),
		model = state.model,
		unit = model.unit === 'gpu' ? 'GPUs' : 'CPUs'
	return (
		<div className="table-frame" tabIndex={0} role="region" aria-label={`What is in ${top.name || 'the cluster'}`}>
			<table>
				<thead>
					<tr>
						<th scope="col">{top.children.length ? levelName(levels[top.level + 1]) : 'node'}</th>
						<th scope="col" className="number">
							nodes
						</th>
						<th scope="col" className="number">
							{unit} used
						</th>
						<th scope="col" className="number">
							of
						</th>
						<th scope="col" className="number">
							pods
						</th>
						<th scope="col">gangs</th>
					</tr>
				</thead>
				<tbody>
					{rows.slice(0, MOST).map(row => {
						const sum = summary(model, row)
						return (
							<tr key={row.id}>
								<th scope="row">
									<button
										className="link"
										onClick={() =>
											row.domain
												? state.zoomTo(row.domain.id)
												: state.select({ kind: 'node', name: row.name })
										}
									>
										{row.name}
									</button>
									{sum.down > 0 && (
										<span className="trouble">
											{' '}
											{row.domain ? `${sum.down} not ready` : 'not ready'}
										</span>
									)}
								</th>
								<td className="number">{row.nodes.length}</td>
								<td className="number">{amount(sum.used)}</td>
								<td className="number">{amount(sum.whole)}</td>
								<td className="number">{sum.pods}</td>
								<td>
									{sum.gangs
										.slice(0, 4)
										.map(name =>
											model.groups.has(name)
												? gangName(model.groups.get(name)!)
												: shortName(name),
										)
										.join(', ')}
									{sum.gangs.length > 4 ? ` and ${sum.gangs.length - 4} more` : ''}
								</td>
							</tr>
						)
					})}
				</tbody>
			</table>
			{rows.length > MOST && <p className="faint">and {rows.length - MOST} more; search for one by name</p>}
		</div>
	)
}
