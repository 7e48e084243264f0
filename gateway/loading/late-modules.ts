/**
 * What a gateway needs to judge, and not to wait: the whole engine, the recognisers and the routes of the API, most of the
 * program. Loaded with the first call or request, and at once, since what asks for it decides synchronously; all of it in this one
 * way, since a module cannot be taken at once while it is still on its way by `import()` (docs/decisions/0019).
 */
import { createRequire } from 'node:module'
import type * as Engine from '../../engine/internal.ts'
import type * as Serving from '../api/serving.ts'
import type * as Recognisers from '../protocols/registry.ts'

const require = createRequire(import.meta.url)
/** Source and package hold the same modules under two endings, and only imports are rewritten. */
const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

let loadedEngine: typeof Engine | null = null
let loadedRecognisers: typeof Recognisers | null = null
let loadedServing: typeof Serving | null = null

export function engine(): typeof Engine {
  return (loadedEngine ??= require(`../../engine/internal${ENDING}`))
}

export function recognisers(): typeof Recognisers {
  return (loadedRecognisers ??= require(`../protocols/registry${ENDING}`))
}

export function serving(): typeof Serving {
  return (loadedServing ??= require(`../api/serving${ENDING}`))
}
