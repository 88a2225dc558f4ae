// What if: a pasted manifest, and where the engine would put it now.
import { useState } from 'react'
import { Why } from './detail'
import { namesDown } from './domains'
import { shortName } from './model'
import { State } from './state'
import { askWhatIf } from './stream'
import { plural } from './ui'
import { WhatIfAnswer } from './wire'

const EXAMPLE = `apiVersion: batch/v1
kind: Job
metadata:
  name: what-if
spec:
  completionMode: Indexed
  parallelism: 4
  completions: 4
  template:
    spec:
      schedulerName: platoon
      restartPolicy: Never
      containers:
      - name: main
        image: example.com/train:1
        resources: {limits: {nvidia.com/gpu: 8}}
`

/** The name of a PodGroup that is made for a workload; people know the workload. */
const MADE = /^pg-(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

export function WhatIf({ state }: { state: State }) {
	const [text, setText] = useState('')
	const [asking, setAsking] = useState(false)
	const ask = async () => {
		setAsking(true)
		state.setAnswer(await askWhatIf(state.token, text))
		setAsking(false)
	}
	return (
		<div className="scroll whatif">
			<label htmlFor="manifest">A manifest: PodGroups and pods, or a workload. Nothing is created.</label>
			<textarea
				id="manifest"
				rows={12}
				spellCheck={false}
				value={text}
				placeholder="Paste YAML or JSON"
				onChange={event => setText(event.target.value)}
			/>
			<div className="buttons">
				<button className="primary" onClick={() => void ask()} disabled={asking || !text.trim()}>
					{asking ? 'Asking…' : 'Where would it go?'}
				</button>
				<button onClick={() => setText(EXAMPLE)}>Example</button>
				{state.answer && <button onClick={() => state.setAnswer(null)}>Clear</button>}
			</div>
			<div aria-live="polite">{state.answer && <Answer state={state} answer={state.answer} />}</div>
		</div>
	)
}

function placesOf(state: State, answer: WhatIfAnswer): string {
	const counts = new Map<string, number>()
	for (const pod of answer.pods ?? []) {
		const name = namesDown(state.tree().byNode.get(pod.on)).join(' › ') || pod.on
		counts.set(name, (counts.get(name) ?? 0) + 1)
	}
	return [...counts].map(([name, count]) => `${name} ×${count}`).join(', ')
}

function Answer({ state, answer }: { state: State; answer: WhatIfAnswer }) {
	const pods = answer.pods ?? [],
		evictions = answer.evictions ?? []
	return (
		<div className="answer">
			{answer.problems.map((problem, i) => (
				<p key={i} className={problem.severity}>
					{(problem.where || problem.path) && (
						<code>{[problem.where, problem.path].filter(Boolean).join(' ')}</code>
					)}{' '}
					{problem.message}
					{problem.fix && <span className="faint"> {problem.fix}</span>}
				</p>
			))}
			{answer.groups?.map(group => (
				<article key={group.n}>
					<h2>
						{shortName(group.n).replace(MADE, '$1')}{' '}
						<span className={'phase ' + (group.state === 'Placed' ? 'running' : 'waiting')}>
							{group.state}
						</span>
					</h2>
					<p>
						{group.placed}/{group.placed + group.waiting} pods would be placed; the minimum is {group.min}.
					</p>
					{group.why.length > 0 && <Why reasons={group.why} fallback="" />}
				</article>
			))}
			{pods.length > 0 && (
				<p>
					<strong>{plural(pods.length, 'pod')}</strong> in {placesOf(state, answer)}; drawn on the map.
				</p>
			)}
			{evictions.length > 0 && (
				<>
					<p>
						<strong>{plural(evictions.length, 'pod')}</strong> would have to give way:
					</p>
					<ul>
						{evictions.slice(0, 20).map(pod => (
							<li key={pod.n}>
								{shortName(pod.n)} on {pod.on} ({pod.moved ? 'moved' : pod.action})
							</li>
						))}
					</ul>
				</>
			)}
			{answer.groups?.length === 0 && <p className="faint">There is nothing in it to place.</p>}
		</div>
	)
}
