/** How the time of a comparison grows with the parts of a contract. Reports milliseconds of few and of many parts by kind. */
import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { compare, type Sha256 } from '../../engine/internal.ts'
import { sendToParent } from '../child.ts'
import { WIDE_PAIRS, type WidePair } from './wide-pairs.ts'

export interface Growth {
  readonly name: string
  readonly few: number
  readonly many: number
}

const FEW = 400
/** How many times as many parts the second contract has. */
const TIMES = 4
const ROUNDS = 3

const sha256: Sha256 = (text) => createHash('sha256').update(text).digest('hex')

function fastest({ name, type, write }: WidePair, parts: number): number {
  const [before, after] = [write(parts, 0), write(parts, 1)]
  let best = Infinity
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now()
    const result = compare({ id: 'wide', type, before, after }, {}, sha256)
    best = Math.min(best, performance.now() - start)
    if (!result.ok || result.value.groups.length === 0) throw new Error(`${name}: nothing was found`)
  }
  return best
}

sendToParent(
  WIDE_PAIRS.map((pair): Growth => ({ name: pair.name, few: fastest(pair, FEW), many: fastest(pair, FEW * TIMES) })),
)
process.disconnect?.()
