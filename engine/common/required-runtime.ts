/**
 * Throws when the runtime is too old for the engine, and says which one it needs. The entries of the engine import it first:
 * without it an older runtime ends with a TypeError from the middle of a rule table.
 */

/** The newest features of the language that the engine uses, so those that an older runtime lacks. */
const FEATURES: readonly (readonly [name: string, isThere: boolean])[] = [
  ['Map.groupBy', 'groupBy' in Map],
  ['Set.prototype.union', 'union' in Set.prototype],
]

const missing = FEATURES.filter(([, isThere]) => !isThere).map(([name]) => name)
if (missing.length > 0)
  throw new Error(
    `preflight-engine needs Node.js 22 or newer, or a browser from mid-2024 or newer. This runtime has no ${missing.join(' and no ')}.`,
  )
