/** Faults as people read them: the smallest pair, the value that proves the break, and the findings, once per kind of fault. */
import { documentsOf } from './judge.ts'
import { judgeAt, shrink } from './pairs.ts'
import { surfacesFor } from './surfaces.ts'
import type { Fault } from './chunk.ts'

/** Text of the faults, at most `perKind` of each kind. */
export function reportOf(seed: number, faults: readonly Fault[], perKind = 1): string {
  const byKind = Map.groupBy(faults, ({ kind }) => kind)
  return [...byKind]
    .map(([kind, all]) =>
      [`${kind}: ${all.length}`, ...all.slice(0, perKind).map((fault) => describe(seed, fault))].join('\n'),
    )
    .join('\n\n')
}

function describe(seed: number, { index, surface }: Fault): string {
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
