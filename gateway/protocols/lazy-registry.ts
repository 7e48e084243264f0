/** The recognisers, loaded with the first call that is judged (docs/decisions/0019). */
import { createRequire } from 'node:module'
import { ENDING } from '../loading/lazy-engine.ts'
import type * as Recognisers from './registry.ts'

const require = createRequire(import.meta.url)

let loaded: typeof Recognisers | null = null

export function recognisers(): typeof Recognisers {
  return (loaded ??= require(`./registry${ENDING}`))
}
