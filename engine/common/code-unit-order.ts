/** The order of texts that the engine sorts by. */

/** Code-unit order: the same on every machine, unlike a locale's. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
