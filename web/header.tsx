// The line at the top: the state of the cluster in a sentence, search, and the connection.
import { KeyboardEvent, useMemo, useRef, useState } from 'react'
import { gangName, Model, shortName } from './model'
import { Selection, State } from './state'
import { amount, plural } from './ui'
import { useWaiting } from './lists'

export interface Hit {
	kind: 'gang' | 'node' | 'pod'
	name: string
	title: string
	note: string
}

const MOST_HITS = 12

/** Gangs first, then nodes, then pods; names that begin so before those that only contain it. */
export function search(model: Model, text: string): Hit[] {
	const query = text.trim().toLowerCase()
	if (!query) return []
	const pick = (names: Iterable<string>, kind: Hit['kind'], note: (name: string) => string): Hit[] => {
		const begin: Hit[] = [],
			inside: Hit[] = []
		for (const name of names) {
			const group = kind === 'gang' ? model.groups.get(name) : undefined
			const title = group ? gangName(group) : kind === 'node' ? name : shortName(name)
			const at = title.toLowerCase().indexOf(query)
			if (at === 0 && begin.length < MOST_HITS) begin.push({ kind, name, title, note: note(name) })
			else if (at > 0 && inside.length < MOST_HITS) inside.push({ kind, name, title, note: note(name) })
		}
		return [...begin, ...inside]
	}
	return [
		...pick(model.groups.keys(), 'gang', name => model.groups.get(name)?.phase ?? ''),
		...pick(model.nodes.keys(), 'node', name => (model.nodes.get(name)?.down ? 'not ready' : 'node')),
		...pick(model.pods.keys(), 'pod', name => model.pods.get(name)?.on ?? 'waits'),
	].slice(0, MOST_HITS)
}

function selectionOf(model: Model, hit: Hit): Selection {
	const pod = hit.kind === 'pod' ? model.pods.get(hit.name) : undefined
	if (pod?.g) return { kind: 'gang', name: hit.name.slice(0, hit.name.indexOf('/') + 1) + pod.g }
	return { kind: hit.kind, name: hit.name }
}

function Search({ state }: { state: State }) {
	const [text, setText] = useState('')
	const [open, setOpen] = useState(false)
	const [at, setAt] = useState(0)
	const input = useRef<HTMLInputElement>(null)
	const hits = useMemo(() => (open ? search(state.model, text) : []), [text, open, state.model.version])
	const choose = (hit: Hit | undefined) => {
		if (!hit) return
		state.select(selectionOf(state.model, hit))
		setOpen(false)
	}
	const onKey = (event: KeyboardEvent) => {
		if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
			event.preventDefault()
			setAt((at + (event.key === 'ArrowDown' ? 1 : -1) + hits.length) % Math.max(1, hits.length))
		} else if (event.key === 'Enter') choose(hits[at])
		else if (event.key === 'Escape') {
			setOpen(false)
			setText('')
		}
	}
	return (
		<div className="search">
			<input
				id="search"
				ref={input}
				type="search"
				placeholder="Search gangs, nodes, pods   /"
				aria-label="Search gangs, nodes and pods"
				role="combobox"
				aria-expanded={open && hits.length > 0}
				aria-controls="hits"
				aria-activedescendant={open && hits.length ? 'hit-' + at : undefined}
				value={text}
				onChange={event => {
					setText(event.target.value)
					setOpen(true)
					setAt(0)
				}}
				onFocus={() => setOpen(true)}
				onBlur={() => setOpen(false)}
				onKeyDown={onKey}
			/>
			<ul id="hits" role="listbox" aria-label="Found" hidden={!open || hits.length === 0}>
				{hits.map((hit, i) => (
					<li
						key={hit.kind + hit.name}
						id={'hit-' + i}
						role="option"
						aria-selected={i === at}
						onMouseDown={event => {
							event.preventDefault()
							choose(hit)
						}}
					>
						<span className="hit-kind">{hit.kind}</span> {hit.title}{' '}
						<span className="faint">{hit.note}</span>
					</li>
				))}
			</ul>
		</div>
	)
}

const WORDS = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting', refused: 'No access' }

export function Header({ state }: { state: State }) {
	const { model } = state,
		{ totals } = model
	const { groups, pods } = useWaiting(state)
	const unit = model.unit,
		used = unit === 'gpu' ? totals.gpuUsed : totals.cpuUsed,
		whole = unit === 'gpu' ? totals.gpu : totals.cpu
	const waits = groups.length + pods.length
	return (
		<header className="head">
			<h1>
				<img src="icon.svg" alt="" width="20" height="20" /> Platoon
			</h1>
			<p className="sum" aria-live="off">
				<span className="figure">
					<b>{amount(used)}</b> of {amount(whole)} {unit === 'gpu' ? 'GPUs' : 'CPUs'} used
					<span className="meter" aria-hidden="true">
						<span style={{ width: `${whole ? (100 * used) / whole : 0}%` }} />
					</span>
				</span>
				<span className="figure">
					<b>{model.nodes.size.toLocaleString('en')}</b> {model.nodes.size === 1 ? 'node' : 'nodes'}
					{totals.down > 0 && <span className="trouble">, {totals.down} not ready</span>}
				</span>
				<span className="figure">
					<b>{model.groups.size.toLocaleString('en')}</b> {model.groups.size === 1 ? 'gang' : 'gangs'}
				</span>
				<span className="figure">
					<b>{totals.placed.toLocaleString('en')}</b> pods placed
				</span>
				<span className={'figure' + (waits ? ' urgent' : '')}>
					<b>{waits.toLocaleString('en')}</b> {waits === 1 ? 'waits' : 'wait'}
				</span>
			</p>
			<Search state={state} />
			<span className={'status ' + state.status} role="status">
				{state.time !== null && state.status === 'live' ? 'Past' : WORDS[state.status]}
			</span>
			<button
				className="quiet"
				onClick={() => state.setTheme(state.dark ? 'light' : 'dark')}
				aria-label={state.dark ? 'Use light colours' : 'Use dark colours'}
			>
				{state.dark ? '☀' : '☾'}
			</button>
			<span className="unseen" role="status">
				{plural(waits, 'gang waits', 'gangs wait')}
			</span>
		</header>
	)
}
