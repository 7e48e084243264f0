/** A run over single edits of a contract: an edit that a witness proves to break somebody is no information. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ArtifactType } from '../../engine/internal.ts'
import { compare } from '../../engine/formats/compare.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

/** Which edits are tried, and how many: `SHARE=1 node --test …` tries all, another `SEED` others. */
const SEED = Number(process.env['SEED'] ?? 1)

interface EditRun {
  readonly type: ArtifactType
  readonly base: unknown
  readonly edits: Iterable<{ readonly what: string; readonly document: unknown }>
  /** One of so many edits is tried. */
  readonly share: number
  /** What the edit breaks; null: nothing is proved. */
  readonly proofOf: (document: unknown) => string | null
}

/** The name of the document, and both sides of further files. */
interface Carried {
  readonly path: string
  readonly files: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>
}

/** Null: the document is refused. */
export function foundBetween(
  type: ArtifactType,
  base: unknown,
  head: unknown,
  carried: Partial<Carried> = {},
): readonly string[] | null {
  const [before, after] = [textOf(base), textOf(head)]
  const files = Object.fromEntries(
    Object.entries(carried.files ?? {}).map(([name, side]) => [
      name,
      { before: textOf(side.before), after: textOf(side.after) },
    ]),
  )
  const result = compare({ ...carried, id: 't', type, before, after, files }, {}, sha256Hex)
  return result.ok ? result.value.groups.map(({ level, rule, location }) => `${level} ${rule} ${location}`) : null
}

function textOf(side: unknown): string {
  return typeof side === 'string' ? side : JSON.stringify(side)
}

export function checkEdits(t: TestContext, { type, base, edits, share, proofOf }: EditRun): void {
  const every = Number(process.env['SHARE'] ?? share)
  const counts = { edits: 0, proofs: 0 }
  const missed: string[] = []
  let index = SEED
  for (const { what, document } of edits) {
    index += 1
    if (index % every !== 0) continue
    counts.edits += 1
    const proof = proofOf(document)
    if (proof === null) continue
    counts.proofs += 1
    const findings = foundBetween(type, base, document)
    if (findings?.every((finding) => finding.startsWith('info')) === true)
      missed.push([what, proof, JSON.stringify(document), ...findings].join('\n  '))
  }
  t.diagnostic(JSON.stringify(counts))
  assert.deepEqual(missed.slice(0, 5), [], `${missed.length} of ${counts.proofs} are missed`)
  assert.ok(counts.proofs > counts.edits / 10, JSON.stringify(counts))
}
