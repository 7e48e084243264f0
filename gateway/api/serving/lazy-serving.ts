/** The routes of the API, loaded with its first request (docs/decisions/0019). */
import { createRequire } from 'node:module'
import { ENDING } from '../../loading/lazy-engine.ts'
import type * as Serving from './serving.ts'

const require = createRequire(import.meta.url)

let loaded: typeof Serving | null = null

export function serving(): typeof Serving {
  return (loaded ??= require(`./serving${ENDING}`))
}
