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

/** Each new gang takes the colour that the fewest pods have, so that large gangs rarely share one. */
export class Hues {
	private taken = new Map<string, { hue: number; size: number }>()
	private pods: number[] = LIGHT.map(() => 0)

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
	hues: string[]
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
				hues: DARK,
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
				hues: LIGHT,
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
