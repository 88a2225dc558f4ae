// Colours of gangs: told apart also by people who see few hues, light and dark. Which gang has which is decided once.

const LIGHT = [
	'#0072b2',
	'#e08a00',
	'#009e73',
	'#c65f93',
	'#45a3dc',
	'#c44f00',
	'#7a6fc7',
	'#8c8c1f',
	'#7d2450',
	'#2b9a94',
]
const DARK = [
	'#3f9bdc',
	'#f0a830',
	'#22b488',
	'#dc86b4',
	'#7cc6f2',
	'#ea7a3c',
	'#9d93e6',
	'#bcb848',
	'#c2628f',
	'#5cc7bf',
]

/** A colour comes plain, then lighter with stripes, then darker with dots: three times as many gangs can be told apart, also
 * where a slot is too small for a pattern or the eye sees few colours. */
export const LOOKS = 3
const HUES = LIGHT.length

/** The look that goes with a number of Hues: 0 plain, 1 striped, 2 dotted. */
export function lookOf(hue: number): number {
	return Math.floor(hue / HUES)
}

/** Names for the style sheet. */
export function hueClass(hue: number): string {
	return `hue-${hue % HUES} look-${lookOf(hue)}`
}

function mix(colour: string, other: string, part: number): string {
	const channel = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16)
	const mixed = [1, 3, 5].map(at => Math.round(channel(colour, at) * (1 - part) + channel(other, at) * part))
	return '#' + mixed.map(value => value.toString(16).padStart(2, '0')).join('')
}

/** All looks of all colours, in the order of their numbers. */
function looks(hues: string[], page: string, text: string): string[] {
	return [...hues, ...hues.map(hue => mix(hue, page, 0.4)), ...hues.map(hue => mix(hue, text, 0.35))]
}

/** Each new gang takes the colour and look that the fewest pods have, so that large gangs rarely share one. */
export class Hues {
	private taken = new Map<string, { hue: number; size: number }>()
	private pods: number[] = new Array<number>(HUES * LOOKS).fill(0)

	of(gang: string, size = 1): number {
		const known = this.taken.get(gang)
		if (known) return known.hue
		const hue = this.pods.indexOf(Math.min(...this.pods))
		this.pods[hue] += size
		this.taken.set(gang, { hue, size })
		return hue
	}

	has(gang: string): boolean {
		return this.taken.has(gang)
	}

	/** Gangs that are gone give theirs back. */
	keep(exists: (gang: string) => boolean) {
		for (const [gang, { hue, size }] of this.taken)
			if (!exists(gang)) {
				this.pods[hue] -= size
				this.taken.delete(gang)
			}
	}
}

/** What the canvas is drawn with. */
export interface Paint {
	hues: string[] // by number of Hues
	page: string
	box: string[] // by level, outermost first
	line: string
	tile: string
	empty: string
	text: string
	faint: string
	single: string // pods of no gang
	accent: string
	waiting: string
	down: string
}

export function paintFor(dark: boolean): Paint {
	return dark
		? {
				hues: looks(DARK, '#12171d', '#d7dfe7'),
				page: '#12171d',
				box: ['#181f27', '#1e2730', '#242e39'],
				line: '#303c49',
				tile: '#2b3743',
				empty: '#394857',
				text: '#d7dfe7',
				faint: '#93a3b3',
				single: '#8595a5',
				accent: '#7cc6f2',
				waiting: '#f0a830',
				down: '#ea7a3c',
			}
		: {
				hues: looks(LIGHT, '#f6f7f9', '#1c2733'),
				page: '#f6f7f9',
				box: ['#ffffff', '#f3f5f7', '#eaeef2'],
				line: '#d5dce3',
				tile: '#dfe5ea',
				empty: '#f9fafb',
				text: '#1c2733',
				faint: '#5a6b7b',
				single: '#8797a6',
				accent: '#0b62a5',
				waiting: '#a85b00',
				down: '#b03d00',
			}
}
