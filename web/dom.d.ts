// Newer than the DOM that this TypeScript knows.
interface CanvasRenderingContext2D {
	roundRect(x: number, y: number, w: number, h: number, radius: number): void
}
