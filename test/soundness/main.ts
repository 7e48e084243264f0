/**
 * `npm run soundness -- --pairs 1000000`: as many pairs as wanted, the counts of the run, and each kind of fault with its smallest
 * pair. `--seed` draws others, `--from` starts at an index, `--job rewrites` draws pairs
 * of equal meaning, `--job orders` shuffles keys, `--job names` calls properties like members of Object.prototype.
 */
import { parseArgs } from 'node:util'
import type { Job } from './chunk.ts'
import { reportOf } from './report.ts'
import { run } from './run.ts'

const JOBS: readonly Job[] = ['pairs', 'rewrites', 'orders', 'names']

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    job: { type: 'string', default: 'pairs' },
    threads: { type: 'string' },
    examples: { type: 'string', default: '1' },
  },
})

const job = JOBS.find((one) => one === values.job)
if (job === undefined) throw new Error(`--job is one of ${JOBS.join(', ')}`)
const [seed, count] = [Number(values.seed), Number(values.pairs)]
let reported = 0
const tally = await run({
  seed,
  count,
  job,
  from: Number(values.from),
  ...(values.threads === undefined ? {} : { threads: Number(values.threads) }),
  onProgress: (done) => {
    if (done - reported < count / 20) return
    reported = done
    process.stderr.write(`${done} of ${count}\n`)
  },
})
for (const [name, total] of Object.entries(tally.counts)) console.log(`${String(total).padStart(9)}  ${name}`)
if (tally.failures.length > 0) console.log(`\n${reportOf(job, seed, tally.failures, Number(values.examples))}`)
console.log(`\n${tally.failures.length} faults in ${count} pairs`)
process.exitCode = tally.failures.length > 0 ? 1 : 0
