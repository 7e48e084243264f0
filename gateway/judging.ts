/**
 * What a gateway needs to judge, and not to wait: the whole engine and the recognisers, most of the program. Loaded with the
 * first call that is judged, and at once, since what asks for it cannot wait (docs/decisions/0019).
 */
import { createRequire } from 'node:module'
import type * as Engine from '../engine/index.ts'
import type * as Recognisers from './intercept/recognisers.ts'

const require = createRequire(import.meta.url)
/** Source and package hold the same modules under two endings, and only imports are rewritten. */
const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

let loadedEngine: typeof Engine | null = null
let loadedRecognisers: typeof Recognisers | null = null

export function engine(): typeof Engine {
  return (loadedEngine ??= require(`../engine/index${ENDING}`))
}

export function recognisers(): typeof Recognisers {
  return (loadedRecognisers ??= require(`./intercept/recognisers${ENDING}`))
}
