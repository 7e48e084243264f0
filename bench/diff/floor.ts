/** The floor of a diff: both sides read, parsed and hashed, and nothing compared. Reports milliseconds and its peak memory. */
import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { childArgument, sendToParent } from '../child.ts'
import { isPair } from './pair.ts'
import { parseSide, readSide } from './side.ts'

const pair = childArgument()
if (!isPair(pair)) throw new TypeError('the pair is missing')

const start = performance.now()
for (const path of [pair.before, pair.after]) {
  const text = readSide(path)
  createHash('sha256').update(text).digest('hex')
  parseSide(pair.type, text)
}
sendToParent({ milliseconds: performance.now() - start, peakRss: process.resourceUsage().maxRSS * 1024 })
process.disconnect?.()
