// The last changes along a line of time, to go back and forth in.
import { Happening } from './history'
import { State } from './state'
import { clockTime, duration } from './ui'

const BARS = 160
const LEAST_SPAN = 60_000

interface Bar {
	good: number
	bad: number
}

/** Pods placed and what left or failed, counted in equal pieces of time. */
export function bars(list: Happening[], from: number, to: number, count = BARS): Bar[] {
	const made: Bar[] = Array.from({ length: count }, () => ({ good: 0, bad: 0 }))
	for (const item of list) {
		const at = Math.floor(((item.at - from) / Math.max(1, to - from)) * count)
		const bar = made[Math.min(count - 1, at)]
		if (!bar || at < 0) continue
		if (item.kind === 'placed') bar.good += item.count
		else if (item.kind !== 'other') bar.bad += item.count
	}
	return made
}

function lastBefore(list: Happening[], time: number): Happening | undefined {
	for (let i = list.length - 1; i >= 0; i--) if (list[i].at <= time) return list[i]
	return undefined
}

export function Timeline({ state }: { state: State }) {
	const { history } = state
	const list = history.teller.list
	const to = state.now(),
		from = Math.min(history.changes[0]?.at ?? to, to - LEAST_SPAN)
	const shown = bars(list, from, to),
		most = Math.max(1, ...shown.map(bar => Math.max(bar.good, bar.bad)))
	const time = state.time ?? to
	const last = lastBefore(list, time)
	const jump = (step: 1 | -1) => {
		const sorted = step > 0 ? list.find(item => item.at > time) : lastBefore(list, time - 1)
		if (sorted) state.goTo(sorted.at)
		else if (step > 0) state.goTo(null)
	}
	const size = (value: number) => (value ? 3 + (15 * Math.log1p(value)) / Math.log1p(most) : 0)
	return (
		<section className={'timeline' + (state.time === null ? '' : ' past')} aria-label="Timeline">
			<div className="timeline-head">
				<button onClick={() => jump(-1)} disabled={!list.length} aria-label="One event back">
					‹
				</button>
				<button onClick={() => jump(1)} disabled={state.time === null} aria-label="One event forward">
					›
				</button>
				<button className="live" onClick={() => state.goTo(null)} aria-pressed={state.time === null}>
					{state.time === null ? 'Live' : 'Back to live'}
				</button>
				<span className="when">
					{clockTime(time)}
					{state.time !== null && ` · ${duration(to - state.time)} ago`}
				</span>
				<span className="last" title={last?.text}>
					{last ? last.text : ''}
				</span>
			</div>
			<div className="timeline-line">
				<svg viewBox={`0 0 ${BARS} 38`} preserveAspectRatio="none" aria-hidden="true">
					<line x1="0" x2={BARS} y1="19" y2="19" className="axis" />
					{shown.map((bar, i) => (
						<g key={i}>
							{bar.good > 0 && (
								<rect
									className="good"
									x={i + 0.1}
									width="0.8"
									y={19 - size(bar.good)}
									height={size(bar.good)}
								/>
							)}
							{bar.bad > 0 && (
								<rect className="bad" x={i + 0.1} width="0.8" y="19" height={size(bar.bad)} />
							)}
						</g>
					))}
					{state.time !== null && (
						<line
							className="playhead"
							x1={(BARS * (time - from)) / (to - from)}
							x2={(BARS * (time - from)) / (to - from)}
							y1="0"
							y2="38"
						/>
					)}
				</svg>
				<input
					type="range"
					aria-label="Time"
					min={from}
					max={to}
					step={100}
					value={time}
					aria-valuetext={state.time === null ? 'now' : `${clockTime(time)}, ${duration(to - time)} ago`}
					onChange={event => {
						const value = Number(event.target.value)
						state.goTo(to - value < 500 ? null : value)
					}}
				/>
			</div>
			<div className="timeline-ends" aria-hidden="true">
				<span>
					{clockTime(from)}{' '}
					<span className="reach">
						{history.complete
							? '· all since the server started'
							: `· the last ${history.changes.length.toLocaleString('en')} changes, older ones are forgotten`}
					</span>
				</span>
				<span className="faint">above the line: placed · below: left, failed, waits</span>
				<span>now</span>
			</div>
		</section>
	)
}
