// The page: header, map, panel, timeline; or what to do when there is no access.
import { FormEvent, useEffect, useState } from 'react'
import { Detail } from './detail'
import { Header } from './header'
import { Events, Gangs, useWaiting, Waiting } from './lists'
import { MapView } from './map'
import { Queues } from './queues'
import { Rollouts } from './rollouts'
import { State, Tab, useChanges } from './state'
import { Timeline } from './timeline'
import { TabSpec, Tabs } from './ui'
import { WhatIf } from './whatif'

export function App({ state }: { state: State }) {
	useChanges(state)
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const typing = /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)
			if (event.key === '/' && !typing) {
				event.preventDefault()
				document.getElementById('search')?.focus()
			} else if (event.key === 'Escape' && !typing) {
				if (state.selection) state.select(null)
				else if (state.zoom) state.zoomTo('')
				else if (state.time !== null) state.goTo(null)
			}
		}
		addEventListener('keydown', onKey)
		return () => removeEventListener('keydown', onKey)
	}, [state])
	useEffect(() => {
		// Ages and the end of the timeline grow also while nothing happens.
		const timer = setInterval(() => {
			if (!document.hidden) state.changed()
		}, 1000)
		return () => clearInterval(timer)
	}, [state])
	if (state.status === 'refused') return <NoAccess state={state} />
	return (
		<div className="page">
			<a className="skip" href="#panel">
				Skip to lists
			</a>
			<Header state={state} />
			<main>
				<MapView state={state} />
				<Panel state={state} />
			</main>
			<Timeline state={state} />
			{!state.loaded && (
				<p className="loading" role="status">
					Reading the cluster…
				</p>
			)}
		</div>
	)
}

function Panel({ state }: { state: State }) {
	const { groups, pods } = useWaiting(state)
	const tabs: TabSpec<Tab>[] = [
		{ id: 'waiting', title: 'Waiting', badge: groups.length + pods.length, urgent: true },
		{ id: 'gangs', title: 'Gangs', badge: state.model.groups.size },
		{ id: 'queues', title: 'Queues' },
		{ id: 'rollouts', title: 'Rollouts' },
		{ id: 'events', title: 'Events' },
		{ id: 'whatif', title: 'What if' },
	]
	const views = { waiting: Waiting, gangs: Gangs, queues: Queues, rollouts: Rollouts, events: Events, whatif: WhatIf }
	const View = views[state.tab]
	return (
		<aside className="panel" aria-label="Lists and details">
			<Detail state={state} />
			<Tabs tabs={tabs} chosen={state.tab} choose={tab => state.show(tab)} />
			<div id="panel" role="tabpanel" aria-labelledby={'tab-' + state.tab} tabIndex={-1}>
				<View state={state} />
			</div>
		</aside>
	)
}

function NoAccess({ state }: { state: State }) {
	const [token, setToken] = useState('')
	const submit = (event: FormEvent) => {
		event.preventDefault()
		if (token.trim()) state.useToken(token)
	}
	return (
		<main className="no-access">
			<h1>{state.token ? 'This token is not accepted' : 'A token is needed'}</h1>
			<p>
				Open the address that <code>platoon up</code> printed; the token is in it, behind <code>#token=</code>.
				It is also in the file <code>read-only-token</code> of the data folder (by default <code>.platoon</code>
				).
			</p>
			<form onSubmit={submit}>
				<label htmlFor="token">Token</label>
				<input
					id="token"
					type="password"
					autoComplete="off"
					value={token}
					onChange={event => setToken(event.target.value)}
				/>
				<button className="primary" disabled={!token.trim()}>
					Open the dashboard
				</button>
			</form>
		</main>
	)
}
