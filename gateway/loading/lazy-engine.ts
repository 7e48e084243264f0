/**
 * The whole engine, loaded synchronously with the first call to judge, because its callers decide synchronously. Recognisers
 * and the routes of the API are loaded in the same way. A module cannot be required while an `import()` of it is still
 * loading (docs/decisions/0019).
 */
import { createRequire } from 'node:module'
import type * as Engine from '../../engine/internal.ts'

const require = createRequire(import.meta.url)
/** Source and package hold the same modules under two endings, and only imports are rewritten. */
export const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

let loaded: typeof Engine | null = null

export function engine(): typeof Engine {
  return (loaded ??= require(`../../engine/internal${ENDING}`))
}
