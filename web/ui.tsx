// Small pieces that several views use.
import { KeyboardEvent, ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { hueClass } from './palette'
import { State } from './state'

export function amount(thousandths: number): string {
	const value = thousandths / 1000
	return Number.isInteger(value)
		? value.toLocaleString('en')
		: value.toLocaleString('en', { maximumFractionDigits: 1 })
}

export function bytes(value: number): string {
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
	let unit = 0
	while (value >= 1024 && unit < units.length - 1) {
		value /= 1024
		unit++
	}
	return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** "3 min" */
export function duration(milliseconds: number): string {
	const seconds = Math.max(0, Math.round(milliseconds / 1000))
	if (seconds < 60) return `${seconds} s`
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
	if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
	return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`
}

export function clockTime(milliseconds: number): string {
	return new Date(milliseconds).toLocaleTimeString('en-GB')
}

export function plural(count: number, word: string, words = word + 's'): string {
	return `${count.toLocaleString('en')} ${count === 1 ? word : words}`
}

/** The colour of a gang, beside its name. */
export function Swatch({ state, gang }: { state: State; gang: string }) {
	return <span className={`swatch ${hueClass(state.hues.of(gang))}`} aria-hidden="true" />
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
	return (
		<div className="empty">
			<p className="empty-title">{title}</p>
			{children && <p>{children}</p>}
		</div>
	)
}

/** Only rows that can be seen are in the page: lists may have thousands. All rows are of one height. */
export function Rows<T>({
	items,
	height,
	render,
	label,
}: {
	items: T[]
	height: number
	render: (item: T, index: number) => ReactNode
	label: string
}) {
	const ref = useRef<HTMLDivElement>(null)
	const [view, setView] = useState({ top: 0, height: 600 })
	useLayoutEffect(() => {
		const element = ref.current
		if (!element) return
		const look = () => setView({ top: element.scrollTop, height: element.clientHeight })
		look()
		const observer = new ResizeObserver(look)
		observer.observe(element)
		element.addEventListener('scroll', look, { passive: true })
		return () => {
			observer.disconnect()
			element.removeEventListener('scroll', look)
		}
	}, [])
	const first = Math.max(0, Math.floor(view.top / height) - 4)
	const last = Math.min(items.length, Math.ceil((view.top + view.height) / height) + 4)
	return (
		<div className="rows" ref={ref} tabIndex={0} role="group" aria-label={`${label}: ${items.length}`}>
			<ul style={{ height: items.length * height }} role="list">
				{items.slice(first, last).map((item, i) => (
					<li
						key={first + i}
						style={{ top: (first + i) * height, height }}
						aria-setsize={items.length}
						aria-posinset={first + i + 1}
					>
						{render(item, first + i)}
					</li>
				))}
			</ul>
		</div>
	)
}

export interface TabSpec<T extends string> {
	id: T
	title: string
	badge?: number
	urgent?: boolean
}

export function Tabs<T extends string>({
	tabs,
	chosen,
	choose,
}: {
	tabs: TabSpec<T>[]
	chosen: T
	choose: (tab: T) => void
}) {
	const move = (event: KeyboardEvent) => {
		const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
		if (!step) return
		event.preventDefault()
		const next = tabs[(tabs.findIndex(tab => tab.id === chosen) + step + tabs.length) % tabs.length]
		choose(next.id)
		document.getElementById('tab-' + next.id)?.focus()
	}
	return (
		<div className="tabs" role="tablist" aria-label="Views" onKeyDown={move}>
			{tabs.map(tab => (
				<button
					key={tab.id}
					id={'tab-' + tab.id}
					role="tab"
					aria-selected={tab.id === chosen}
					aria-controls="panel"
					tabIndex={tab.id === chosen ? 0 : -1}
					onClick={() => choose(tab.id)}
				>
					{tab.title}
					{tab.badge !== undefined && (
						<span className={'badge' + (tab.urgent && tab.badge > 0 ? ' urgent' : '')}>{tab.badge}</span>
					)}
				</button>
			))}
		</div>
	)
}

/** Ready within placed within wanted, with a mark at the minimum. */
export function GangBar({
	ready,
	placed,
	pods,
	min,
	hue,
}: {
	ready: number
	placed: number
	pods: number
	min: number
	hue: number
}) {
	const whole = Math.max(pods, min, 1),
		percent = (part: number) => `${(100 * Math.min(part, whole)) / whole}%`
	return (
		<span className={`bar ${hueClass(hue)}`} aria-hidden="true">
			<span className="bar-placed" style={{ width: percent(placed) }} />
			<span className="bar-ready" style={{ width: percent(ready) }} />
			{min > 0 && min < whole && <span className="bar-min" style={{ left: percent(min) }} />}
		</span>
	)
}
