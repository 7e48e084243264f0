/** The sinks that deliver over the network, loaded with the first one that is opened (docs/decisions/0019). */
import { createRequire } from 'node:module'
import { ENDING } from '../../loading/lazy-engine.ts'
import type * as Network from './network.ts'

const require = createRequire(import.meta.url)

export function networkSinks(): typeof Network {
  return require(`./network${ENDING}`)
}
