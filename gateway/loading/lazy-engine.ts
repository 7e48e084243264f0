/**
 * The whole engine, loaded with the first thing to judge, and at once, since what asks for it decides synchronously. What else is
 * loaded late (recognisers, the routes of the API) is loaded beside it, in the same way: a module cannot be taken at once while it
 * is still on its way by `import()` (docs/decisions/0019).
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
