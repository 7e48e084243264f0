/**
 * `npm run conformance:differential`: every mutation through the reference that a dev dependency carries, and through the
 * engine. Takes half a minute. `--list` prints what differs by group and rule, for the rows of deviations.yaml.
 */
import { parseArgs } from 'node:util'
import { openReference, type Reference } from './reference.ts'
import { differences, readDeviations, stale, stemOf, unlisted, type Difference } from './run.ts'

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } })

const reference = await openReference()
if (reference === null) console.log('skipped: the reference has no binary for this platform')
else process.exitCode = await main(reference)

async function main(build: Reference): Promise<number> {
  const found = [...(await differences(build, '3.0.3', 1)), ...(await differences(build, '3.1.0', 1))]
  if (values.list) for (const row of byGroup(found)) console.log(row)
  const deviations = readDeviations()
  const [open, idle] = [unlisted(found, deviations), stale(found, deviations)]
  for (const text of open) console.log(text)
  for (const text of idle) console.log(`stale: ${text}`)
  console.log(
    `${found.length} mutations differ, ${open.length} differences are in no row, ${idle.length} parts of rows are stale`,
  )
  return open.length + idle.length === 0 ? 0 : 1
}

function byGroup(found: readonly Difference[]): readonly string[] {
  const rows = found.flatMap(({ mutation: { group }, missing, surplus }) => [
    ...missing.map((rule) => `${group}\tmissing\t${stemOf(rule)}`),
    ...surplus.map((rule) => `${group}\tsurplus\t${stemOf(rule)}`),
  ])
  return [...Map.groupBy(rows, (row) => row)].map(([row, all]) => `${row}\t${all.length}`).sort()
}
