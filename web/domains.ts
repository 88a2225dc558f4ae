// From labels of nodes to a tree of domains, in the order of the levels of a Topology.
import { Model } from './model'
import { Level, NodeRecord } from './wire'

export interface Domain {
	id: string // unique in the tree; '' for the root
	name: string
	level: number // index in the levels, -1 for the root
	path: string // values joined with '/', as the engine writes them
	parent: Domain | null
	children: Domain[]
	nodes: NodeRecord[] // of domains without children
	count: number // nodes in it and below
}

const HOSTNAME = 'kubernetes.io/hostname'
const order = new Intl.Collator('en', { numeric: true }).compare

export function compareNames(a: string, b: string): number {
	return order(a, b)
}

/** Names of Topologies, the one with most levels first. */
export function topologyNames(model: Model): string[] {
	return [...model.topologies.values()]
		.sort((a, b) => b.levels.length - a.levels.length || compareNames(a.n, b.n))
		.map(topology => topology.n)
}

/** Levels above nodes: a level of single hosts is the nodes themselves. Without a Topology, zones if there are any. */
export function shownLevels(model: Model, topology: string): Level[] {
	const levels = model.topologies.get(topology)?.levels
	if (levels) return levels.filter(level => level.key !== HOSTNAME)
	const zone = 'topology.kubernetes.io/zone'
	for (const node of model.nodes.values()) if (node.labels?.[zone]) return [{ key: zone }]
	return []
}

/** "rack" of "example.com/rack", or the alias. */
export function levelName(level: Level | undefined): string {
	if (!level) return 'cluster'
	return level.alias ?? level.key.slice(level.key.lastIndexOf('/') + 1)
}

function makeDomain(name: string, level: number, parent: Domain | null, id: string): Domain {
	const path = parent && parent.path ? parent.path + '/' + name : name
	return { id, name, level, path, parent, children: [], nodes: [], count: 0 }
}

export function buildDomains(nodes: Iterable<NodeRecord>, levels: Level[]): Domain {
	const root = makeDomain('', -1, null, '')
	const known = new Map<string, Domain>([['', root]])
	for (const node of nodes) {
		let at = root
		for (let i = 0; i < levels.length; i++) {
			// The engine knows a node only as far down as it has labels without a gap.
			const value = node.labels?.[levels[i].key]
			const id = at.id + '\u0000' + (value ?? '')
			let next = known.get(id)
			if (!next) {
				next = makeDomain(value ?? `no ${levelName(levels[i])}`, i, at, id)
				known.set(id, next)
				at.children.push(next)
			}
			at = next
			if (value === undefined) break
		}
		at.nodes.push(node)
	}
	finish(root)
	return root
}

function finish(domain: Domain) {
	domain.children.sort((a, b) => compareNames(a.name, b.name))
	domain.nodes.sort((a, b) => compareNames(a.n, b.n))
	domain.count = domain.nodes.length
	for (const child of domain.children) {
		finish(child)
		domain.count += child.count
	}
}

export function allNodes(domain: Domain): NodeRecord[] {
	return domain.children.length ? domain.children.flatMap(allNodes) : domain.nodes
}

export function findDomain(root: Domain, test: (domain: Domain) => boolean): Domain | null {
	if (test(root)) return root
	for (const child of root.children) {
		const found = findDomain(child, test)
		if (found) return found
	}
	return null
}

/** The domain a reason speaks of. */
export function findMiss(root: Domain, levels: Level[], level: string | null, path: string | null): Domain | null {
	if (!level || !path) return null
	const index = levels.findIndex(each => each.key === level)
	return findDomain(root, domain => domain.level === index && domain.path === path)
}

/** Domain of every node, for questions in the other direction. */
export function domainsByNode(root: Domain): Map<string, Domain> {
	const map = new Map<string, Domain>()
	const walk = (domain: Domain) => {
		for (const node of domain.nodes) map.set(node.n, domain)
		domain.children.forEach(walk)
	}
	walk(root)
	return map
}

export function namesDown(domain: Domain | undefined | null): string[] {
	const names: string[] = []
	for (let at: Domain | null = domain ?? null; at && at.level >= 0; at = at.parent) names.unshift(at.name)
	return names
}
