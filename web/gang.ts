// What a gang's tree says: minimum, placed and ready at each level, and where each part sits. Pure.
import { compareNames, Domain, namesDown } from './domains'
import { Counts, isPlaced, Model } from './model'
import { GroupRecord, Part } from './wire'

export interface PartView extends Counts {
	part: Part
	depth: number
	children: number[]
	satisfied: boolean
	met: number // of a parent: children that are satisfied
	places: Place[] // of a leaf
}

export interface Place {
	name: string // of the smallest domain
	path: string[]
	pods: number
}

/** Parts in the order of the spec, parents before children. */
export function gangTree(model: Model, group: GroupRecord, domainOf: Map<string, Domain>): PartView[] {
	const tree = group.tree ?? []
	const counts = model.counts.get(group.n) ?? new Map<string, Counts>()
	const views = tree.map((part): PartView => {
		const own = part.leaf ? counts.get(part.name) : undefined
		return {
			part,
			depth: 0,
			children: [],
			satisfied: false,
			met: 0,
			places: [],
			pods: own?.pods ?? 0,
			placed: own?.placed ?? 0,
			ready: own?.ready ?? 0,
		}
	})
	views.forEach((view, i) => {
		const parent = view.part.parent >= 0 ? views[view.part.parent] : undefined
		if (!parent) return
		view.depth = parent.depth + 1
		parent.children.push(i)
	})
	for (let i = views.length - 1; i >= 0; i--) {
		const view = views[i]
		for (const child of view.children.map(index => views[index])) {
			view.pods += child.pods
			view.placed += child.placed
			view.ready += child.ready
			view.met += child.satisfied ? 1 : 0
		}
		view.satisfied = (view.part.leaf ? view.placed : view.met) >= view.part.min
	}
	putPlaces(model, group, views, domainOf)
	return views
}

function putPlaces(model: Model, group: GroupRecord, views: PartView[], domainOf: Map<string, Domain>) {
	const leaves = new Map(views.filter(view => view.part.leaf).map(view => [view.part.name, new Map<string, Place>()]))
	for (const name of model.podsOf.get(group.n) ?? []) {
		const pod = model.pods.get(name)
		const places = pod && leaves.get(pod.s ?? '')
		if (!pod || !places || !isPlaced(pod)) continue
		const path = namesDown(domainOf.get(pod.on as string))
		const id = path.length ? path.join('/') : (pod.on as string)
		const place = places.get(id)
		if (place) place.pods++
		else
			places.set(id, {
				name: path[path.length - 1] ?? (pod.on as string),
				path: path.length ? path : [pod.on as string],
				pods: 1,
			})
	}
	for (const view of views)
		view.places = [...(leaves.get(view.part.name)?.values() ?? [])].sort((a, b) =>
			compareNames(a.path.join('/'), b.path.join('/')),
		)
}

/** The sentence to read first: the reason that says most. */
export function headline(group: { why?: { message: string }[]; message?: string; phase?: string }): string {
	return group.why?.[0]?.message ?? (group.message || 'the scheduler has not looked at it yet')
}
