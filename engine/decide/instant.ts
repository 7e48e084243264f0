/** Seconds since the epoch ↔ the instants of the wire, `YYYY-MM-DDThh:mm:ssZ`. No clock is read. */

export function instantText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}

/** NaN when the text names no instant. */
export function instantSeconds(text: string): number {
  return Math.floor(Date.parse(text) / 1000)
}
