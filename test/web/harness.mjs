// What the browser tests stand on: a cluster, kubectl, a browser, and counting.
import { execFileSync, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { readFileSync } from 'node:fs'
import path from 'node:path'

export const FLAGS = [
	'--headless',
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
]

export const sleep = ms => new Promise(done => setTimeout(done, ms))

/** Asks until the answer is true, and fails with what was seen last. */
export async function until(what, ask, seconds = 30) {
	let last
	for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) {
		try {
			last = await ask()
			if (last === true) return
		} catch (error) {
			last = error.message
		}
	}
	throw new Error(`${what}: still not so; last seen: ${JSON.stringify(last)}`)
}

export function freePort() {
	return new Promise((done, fail) => {
		const server = createServer()
		server.on('error', fail)
		server.listen(0, '127.0.0.1', () => {
			const { port } = server.address()
			server.close(() => done(port))
		})
	})
}

/** Resolves with the first line of the output that matches. */
function firstLine(child, pattern) {
	return new Promise((done, fail) => {
		let text = ''
		child.stdout.on('data', piece => {
			text += piece
			const found = pattern.exec(text)
			if (found) done(found[1])
		})
		child.on('exit', code => fail(new Error(`it ended with ${code}: ${text}`)))
	})
}

function ended(child) {
	return new Promise(done => (child.exitCode !== null || child.signalCode ? done() : child.on('exit', done)))
}

export class Cluster {
	constructor(program, folder, port) {
		Object.assign(this, { program, folder, port })
	}

	async start() {
		const args = ['up', '--data-dir', this.folder, '--port', String(this.port), '--nodes', '2x2x4']
		this.child = spawn(this.program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
		this.url = await firstLine(this.child, /(http:\/\/\S+\/dashboard\/#token=\S+)/)
		this.token = readFileSync(path.join(this.folder, 'read-only-token'), 'utf8').trim()
	}

	async stop() {
		this.child?.kill('SIGTERM')
		if (this.child) await ended(this.child)
	}

	kubectl(...args) {
		const env = { ...process.env, KUBECONFIG: path.join(this.folder, 'kubeconfig') }
		return execFileSync('kubectl', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
	}

	get(...args) {
		return JSON.parse(this.kubectl('get', ...args, '-o', 'json'))
	}
}

export async function startCrowd(program, ...args) {
	const child = spawn(program, args.map(String), { stdio: ['pipe', 'pipe', 'inherit'] })
	const url = await firstLine(child, /ready (\S+)/)
	return {
		url,
		stop: async () => {
			child.stdin.end()
			await ended(child)
		},
	}
}

export function load(folder, name) {
	return createRequire(path.join(folder, 'package.json'))(name)
}

/** Runs cases one after the other; a failed one does not end the others. Prints TAP. */
export class Cases {
	count = 0
	failed = 0

	async run(name, body) {
		this.count++
		try {
			await body()
			console.log(`ok ${this.count} - ${name}`)
		} catch (error) {
			this.failed++
			console.log(`not ok ${this.count} - ${name}`)
			console.error(`# ${name}: ${error.stack ?? error}`)
		}
	}

	end() {
		console.log(`1..${this.count}`)
		return this.failed ? 1 : 0
	}
}
