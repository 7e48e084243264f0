/** The order of texts that the engine sorts by. */

/**
 * Code-unit order: the same on every machine, unlike a locale's. A list of texts has it by default,
 * and is sorted several times faster without a function.
 */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
