/**
 * Rewrites of equal meaning: a contract written in two ways. Neither way changes more than information against the other. A
 * row whose sides are equal texts could not fail.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { ArtifactType } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

/** A contract: its document as text or as JSON, and its further files by name. */
export interface Written {
  readonly document: unknown
  readonly files?: Readonly<Record<string, unknown>>
}

/** `dangerous`: the rules that a rewrite may fire, where what is sent stays and something else of the callers may not. */
export type Rewrite = readonly [what: string, one: Written, other: Written, dangerous?: readonly string[]]

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function filesOf(before: Written, after: Written): Record<string, { before?: string; after?: string }> {
  const names = new Set([...Object.keys(before.files ?? {}), ...Object.keys(after.files ?? {})])
  return Object.fromEntries(
    [...names].map((name) => {
      const [one, other] = [before.files?.[name], after.files?.[name]]
      return [
        name,
        { ...(one !== undefined && { before: textOf(one) }), ...(other !== undefined && { after: textOf(other) }) },
      ]
    }),
  )
}

/** The findings that are more than information, as `level rule location`. */
function findings(
  type: ArtifactType,
  before: Written,
  after: Written,
  dangerous: readonly string[],
): readonly string[] {
  const artifact = {
    id: 'contract',
    type,
    path: type === 'protobuf' ? 'contract.proto' : 'contract.json',
    before: textOf(before.document),
    after: textOf(after.document),
    files: filesOf(before, after),
  }
  const compared = compare(artifact, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  const { groups, unresolved } = compared.value
  const missing = unresolved.map(({ location }) => `unresolved ${location}`)
  const found = groups.map(({ level, rule, location, message }) => `${level} ${rule} ${location}: ${message}`)
  const isExpected = (one: string): boolean =>
    one.startsWith('info') || dangerous.some((rule) => one.startsWith(`dangerous ${rule} `))
  return [...missing, ...found.filter((one) => !isExpected(one))]
}

/** One test a row, in both directions. */
export function checkRewrites(name: string, type: ArtifactType, rewrites: readonly Rewrite[]): void {
  suite(name, () => {
    for (const [what, one, other, dangerous = []] of rewrites) {
      test(what, () => {
        assert.notEqual(JSON.stringify(one), JSON.stringify(other))
        assert.deepEqual(findings(type, one, other, dangerous), [])
        assert.deepEqual(findings(type, other, one, dangerous), [])
      })
    }
  })
}
