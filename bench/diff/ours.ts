/** One comparison by the engine in a process of its own: both sides read and compared. Reports milliseconds, peak memory, counts. */
import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { compare, countFindings, type Sha256 } from '../../engine/internal.ts'
import { childArgument, sendToParent } from '../child.ts'
import { isPair } from './pair.ts'
import { readSide } from './side.ts'

const sha256: Sha256 = (text) => createHash('sha256').update(text).digest('hex')

const pair = childArgument()
if (!isPair(pair)) throw new TypeError('the pair is missing')

const start = performance.now()
const [before, after] = [pair.before, pair.after].map(readSide)
const result = compare({ id: pair.name, type: pair.type, before: before ?? '', after: after ?? '' }, {}, sha256)
const milliseconds = performance.now() - start
const peakRss = process.resourceUsage().maxRSS * 1024
sendToParent(
  result.ok
    ? {
        milliseconds,
        peakRss,
        changes: result.value.groups.length,
        breaking: countFindings(result.value.groups, 'breaking'),
        dangerous: countFindings(result.value.groups, 'dangerous'),
      }
    : { milliseconds, peakRss, problem: result.problem.code },
)
process.disconnect?.()
