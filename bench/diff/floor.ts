/** The floor of a diff: both sides read, parsed and hashed, and nothing compared. Reports milliseconds and its peak memory. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml'
import { parse } from 'yaml'
import { childArgument, tellParent } from '../child.ts'
import { isPair } from './pair.ts'

/** Some real documents break the layout rules that js-yaml holds to; the slower reader takes them. */
function readYaml(text: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return parse(text, { logLevel: 'silent' })
  }
}

const pair = childArgument()
if (!isPair(pair)) throw new TypeError('the pair is missing')

const start = performance.now()
for (const path of [pair.before, pair.after]) {
  const text = readFileSync(path, 'utf8')
  createHash('sha256').update(text).digest('hex')
  if (path.endsWith('.json')) JSON.parse(text)
  else readYaml(text)
}
tellParent({ milliseconds: performance.now() - start, peakRss: process.resourceUsage().maxRSS * 1024 })
process.disconnect?.()
