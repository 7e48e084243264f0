/**
 * The same pair again and again with the members of every object in another order: how many different answers come out.
 * Line and column are left out of the comparison, since they follow the text; everything else must be the same bytes.
 */
import { createHash } from 'node:crypto'
import { compare, type Sha256 } from '../../engine/internal.ts'
import { childArgument, sendToParent } from '../child.ts'
import { isPair, shuffledJson } from './pair.ts'

const RUNS = 10

const sha256: Sha256 = (text) => createHash('sha256').update(text).digest('hex')

const pair = childArgument()
if (!isPair(pair)) throw new TypeError('the pair is missing')

const answers = new Set<string>()
for (let run = 1; run <= RUNS; run += 1) {
  const before = shuffledJson(pair.before, run * 2)
  const after = shuffledJson(pair.after, run * 2 + 1)
  const result = compare({ id: pair.name, type: pair.type, before, after }, {}, sha256)
  const bytes = JSON.stringify(result, (name, value: unknown) => (name === 'line' || name === 'column' ? null : value))
  answers.add(sha256(bytes))
}
sendToParent({ answers: answers.size })
process.disconnect?.()
