// The connection to the server: a snapshot, then changes, and again after each loss.
import { Piece, Snapshot, WhatIfAnswer } from './wire'

export type Status = 'connecting' | 'live' | 'lost' | 'refused'

export interface Listener {
	snapshot(snapshot: Snapshot): void
	piece(piece: Piece): void
	status(status: Status): void
}

const KEY = 'platoon-token'
const FIRST_PAUSE = 300
const LONGEST_PAUSE = 5000
const SILENCE = 40_000 // the server says something every 15 s

/** A browser may keep nothing at all; then the token lives as long as the page. */
function keep(token: string) {
	try {
		sessionStorage.setItem(KEY, token)
	} catch {
		/* nothing to be done */
	}
}

function kept(): string {
	try {
		return sessionStorage.getItem(KEY) ?? ''
	} catch {
		return ''
	}
}

/** The token of the address (#token=...) is kept for this tab and taken out of the address. */
export function readToken(): string {
	const given = /(?:^#|&)token=([\w.~-]+)/.exec(location.hash)
	if (!given) return kept()
	keep(given[1])
	history.replaceState(null, '', location.pathname + location.search)
	return given[1]
}

export function keepToken(token: string) {
	keep(token.trim())
}

/** Takes the events out of what has arrived; what is left is the beginning of the next one. */
export function splitEvents(text: string): { events: { name: string; data: string }[]; rest: string } {
	const parts = text.split('\n\n')
	const rest = parts.pop() ?? ''
	const events = parts.map(part => {
		let name = 'message',
			data = ''
		for (const line of part.split('\n')) {
			if (line.startsWith('event: ')) name = line.slice(7)
			if (line.startsWith('data: ')) data += line.slice(6)
		}
		return { name, data }
	})
	return { events: events.filter(event => event.data !== ''), rest }
}

class Refused extends Error {}

export class Connection {
	private stopped = false
	private abort = new AbortController()

	constructor(
		private token: string,
		private listener: Listener,
		private base = 'data/',
	) {}

	start() {
		void this.run()
	}

	stop() {
		this.stopped = true
		this.abort.abort()
	}

	private async request(path: string, init: RequestInit = {}): Promise<Response> {
		const answer = await fetch(this.base + path, {
			...init,
			signal: this.abort.signal,
			cache: 'no-store',
			headers: { Authorization: 'Bearer ' + this.token },
		})
		if (answer.status === 401 || answer.status === 403) throw new Refused()
		return answer
	}

	private async run() {
		let pause = FIRST_PAUSE
		this.listener.status('connecting')
		while (!this.stopped) {
			try {
				await this.follow(() => (pause = FIRST_PAUSE))
			} catch (error) {
				if (error instanceof Refused) {
					this.listener.status('refused')
					return
				}
			}
			if (this.stopped) return
			this.listener.status('lost')
			await new Promise(done => setTimeout(done, pause))
			pause = Math.min(pause * 2, LONGEST_PAUSE)
		}
	}

	/** Until the stream ends, for whatever reason. */
	private async follow(connected: () => void) {
		this.abort = new AbortController()
		const answer = await this.request('snapshot')
		if (!answer.ok) throw new Error('no snapshot')
		const snapshot = (await answer.json()) as Snapshot
		this.listener.snapshot(snapshot)
		const stream = await this.request(`stream?epoch=${encodeURIComponent(snapshot.epoch)}&since=${snapshot.seq}`)
		if (!stream.ok || !stream.body) throw new Error('no stream')
		connected()
		this.listener.status('live')
		await this.read(stream.body.getReader())
	}

	private async read(reader: ReadableStreamDefaultReader<Uint8Array>) {
		const decoder = new TextDecoder()
		let text = ''
		for (;;) {
			const watchdog = setTimeout(() => this.abort.abort(), SILENCE)
			const { value, done } = await reader.read().finally(() => clearTimeout(watchdog))
			if (done) return
			const { events, rest } = splitEvents(text + decoder.decode(value, { stream: true }))
			text = rest
			for (const event of events) {
				if (event.name === 'reset') return
				this.listener.piece(JSON.parse(event.data) as Piece)
			}
		}
	}
}

export async function askWhatIf(token: string, manifest: string): Promise<WhatIfAnswer> {
	const failed = (message: string): WhatIfAnswer => ({
		problems: [{ severity: 'error', where: '', path: '', message, fix: null }],
	})
	try {
		const answer = await fetch('data/what-if', {
			method: 'POST',
			body: manifest,
			headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/yaml' },
		})
		if (answer.ok) return (await answer.json()) as WhatIfAnswer
		const text = await answer.text()
		const told = /"(?:error|message)":"([^"]*)"/.exec(text)
		return failed(told ? told[1] : `the server answered ${answer.status}`)
	} catch {
		return failed('the server cannot be reached')
	}
}
