/**
 * One gateway's store as a process of its own: records decisions for the given time, then calls. Driven over stdin by main.ts, so
 * that the connections live until all figures are read.
 */
import { createInterface } from 'node:readline'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import { decisionRow } from '../../test/fakes/decision-row.ts'
import { interception } from '../../test/fakes/interception.ts'
import { postgresOptions } from '../../test/fakes/stores.ts'

/** Callers that wait at the same time. */
const CALLERS = 64

const [url = '', seconds = '3'] = process.argv.slice(2)
const store = await openPostgresStore(postgresOptions(url, { pool: 4 }))
const own = Math.random().toString(36).slice(2)
// The bytes of an envelope of a small contract, with its receipt.
const envelope = JSON.stringify({ audience: 'v:1', receipt: randomText(1500), findings: 'finding '.repeat(180) })
let count = 0
const record = () =>
  store.decisions.record(
    decisionRow({
      decisionId: `dec_${own}_${(count += 1)}`,
      fingerprint: `sha256:${own}${count}`.padEnd(71, '0'),
      supersessionKey: `sha256:${own}${count}`.padEnd(71, '0'),
      envelope,
    }),
  )

function randomText(length: number): string {
  return Array.from({ length }, () => Math.floor(Math.random() * 36).toString(36)).join('')
}

async function decisions(): Promise<object> {
  const from = count
  const times: number[] = []
  const end = performance.now() + Number(seconds) * 1000
  const caller = async () => {
    while (performance.now() < end) {
      const begin = performance.now()
      await record()
      times.push(performance.now() - begin)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0
  return { done: count - from, p50: at(0.5), p99: at(0.99) }
}

async function alone(): Promise<object> {
  const times: number[] = []
  for (let n = 0; n < 200; n += 1) {
    const begin = performance.now()
    await record()
    times.push(performance.now() - begin)
  }
  return { p50: times.toSorted((a, b) => a - b)[100] }
}

async function calls(): Promise<object> {
  const page = Array.from({ length: 200 }, (_, n) =>
    interception(`c-${own}-${n}`, { decisionId: `dec_${own}_1`, at: Date.now() }),
  )
  for (let n = 0; n < 25; n += 1) await Promise.all(page.map(async (row) => store.calls.record(row)))
  return { done: 5000 }
}

const work: Readonly<Record<string, () => Promise<object>>> = { decisions, alone, calls }
process.stdout.write('"ready"\n')
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break
  process.stdout.write(`${JSON.stringify(await work[line]?.())}\n`)
}
await store.close()
