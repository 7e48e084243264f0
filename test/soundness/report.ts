/** Faults as people read them: the smallest pair, the value that proves the break, and the findings, once per kind of fault. */
import { documentsOf, judgeEqual, type Pair } from './judge.ts'
import { equalPairAt, judgeAt, pairAt, shrink } from './pairs.ts'
import { Random } from './random.ts'
import { surfacesFor } from './surfaces.ts'
import type { Fault, Job } from './chunk.ts'

/** Text of the faults, at most `perKind` of each kind. */
export function reportOf(job: Job, seed: number, faults: readonly Fault[], perKind = 1): string {
  const byKind = Map.groupBy(faults, ({ kind }) => kind)
  return [...byKind]
    .map(([kind, all]) =>
      [`${kind}: ${all.length}`, ...all.slice(0, perKind).map((fault) => DESCRIBE[job](seed, fault))].join('\n'),
    )
    .join('\n\n')
}

const DESCRIBE: Readonly<Record<Job, (seed: number, fault: Fault) => string>> = {
  pairs: describeBreak,
  rewrites: describeRewrite,
  orders: describePair,
  names: describePair,
}

function describePair(seed: number, { index, surface }: Fault): string {
  return describeDocuments(`  index ${index} of seed ${seed}`, pairAt(seed, index), surface)
}

function describeDocuments(head: string, pair: Pair, surface: string): string {
  const place = surfacesFor(pair.dialect).find(({ name }) => name === surface)
  const [before, after] =
    place === undefined ? [JSON.stringify(pair.before), JSON.stringify(pair.after)] : documentsOf(pair, place)
  return [`${head}, ${pair.dialect.name}`, `  before   ${before}`, `  after    ${after}`].join('\n')
}

function describeRewrite(seed: number, { index, surface }: Fault): string {
  const pair = equalPairAt(seed, index)
  if (pair === null) return ''
  const { differs, alarms } = judgeEqual(
    pair,
    new Random(seed, index),
    ({ name }) => surface === '' || name === surface,
  )
  const findings = alarms.flatMap((alarm) => alarm.findings)
  return [
    describeDocuments(`  index ${index} of seed ${seed}`, pair, surface),
    `  ${differs === undefined ? `findings ${findings.join('; ')}` : `value    ${JSON.stringify(differs)}`}`,
  ].join('\n')
}

function describeBreak(seed: number, { index, surface }: Fault): string {
  const { pair, judgement } = judgeAt(seed, index)
  const failure = judgement.failures.find((one) => one.surface === surface)
  const place = surfacesFor(pair.dialect).find(({ name }) => name === surface)
  if (failure === undefined || place === undefined) return `  index ${index} of seed ${seed}, ${pair.dialect.name}`
  const small = shrink(pair, failure, seed)
  const [before, after] = documentsOf(small.pair, place)
  return [
    `  index ${index} of seed ${seed}, ${pair.dialect.name}, ${pair.changes.join(', ')}`,
    `  before   ${before}`,
    `  after    ${after}`,
    `  value    ${JSON.stringify(small.failure.witness)} (${failure.effect})`,
    `  findings ${small.failure.findings.join('; ') || 'none'}`,
  ].join('\n')
}
