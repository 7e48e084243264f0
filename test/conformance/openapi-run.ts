/** Runs the reference's cases against our verdicts and says where they differ: the multiset of rule, level, method and path. */
import { readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { load } from 'js-yaml'
import { compareOpenApi } from '../../engine/diff/openapi/compare.ts'
import { expandFindings, type CompareOptions } from '../../engine/internal.ts'
import { listAt, textAt } from '../json.ts'
import { readReferenceRules, type ConformanceCase, type Verdict } from './openapi-cases.ts'

/** Compares two documents by the engine itself, or by the API of a running gateway. */
export type CompareDocuments = (base: string, head: string, options: CompareOptions) => Promise<readonly Verdict[]>

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export const compareInEngine: CompareDocuments = async (base, head, options) => {
  const compared = compareOpenApi(base, head, options, sha256)
  if (!compared.ok) return [{ rule: compared.problem.code, level: 'problem', method: null, path: null }]
  return expandFindings(compared.value.groups).map(({ rule, level, operation }) => ({
    rule,
    level,
    method: operation?.method ?? null,
    path: operation?.path ?? null,
  }))
}

export interface CaseOutcome {
  readonly id: string
  readonly missing: readonly Verdict[]
  readonly surplus: readonly Verdict[]
  /** Findings of rules that the reference does not have: they are beyond its cases. */
  readonly beyond: readonly Verdict[]
}

export function isPassed({ missing, surplus }: CaseOutcome): boolean {
  return missing.length + surplus.length === 0
}

export async function runCases(
  cases: readonly ConformanceCase[],
  compare: CompareDocuments,
): Promise<readonly CaseOutcome[]> {
  const known = readReferenceRules()
  const outcomes: CaseOutcome[] = []
  for (const { id, base, head, options, expect } of cases) {
    const got = await compare(base, head, options)
    const surplus = without(got, expect)
    outcomes.push({
      id,
      missing: without(expect, got),
      surplus: surplus.filter(({ rule, level }) => known.has(rule) || level === 'problem'),
      beyond: surplus.filter(({ rule, level }) => !known.has(rule) && level !== 'problem'),
    })
  }
  return outcomes
}

/** What is left of one multiset after another is taken from it. */
export function without(all: readonly Verdict[], taken: readonly Verdict[]): readonly Verdict[] {
  const counts = new Map<string, number>()
  for (const verdict of taken) counts.set(keyOf(verdict), (counts.get(keyOf(verdict)) ?? 0) + 1)
  return all.filter((verdict) => {
    const left = counts.get(keyOf(verdict)) ?? 0
    counts.set(keyOf(verdict), left - 1)
    return left <= 0
  })
}

function keyOf({ rule, level, method, path }: Verdict): string {
  return [rule, level, method ?? '', path ?? ''].join(' ')
}

/** Cases that differ for a reason: id → why we judge otherwise. */
export function readExpectedFailures(): ReadonlyMap<string, string> {
  const text = readFileSync(new URL('expected-failures.yaml', import.meta.url), 'utf8')
  return new Map(listAt(load(text), 'openapi').map((row) => [textAt(row, 'case'), textAt(row, 'reason')]))
}

export interface RunReport {
  readonly passed: number
  readonly failed: number
  /** Failed, and in no list. */
  readonly unexpected: readonly CaseOutcome[]
  /** Listed, but passed or gone. */
  readonly stale: readonly string[]
}

export function reportOf(outcomes: readonly CaseOutcome[], expected: ReadonlyMap<string, string>): RunReport {
  const failed = outcomes.filter((outcome) => !isPassed(outcome))
  const failedIds = new Set(failed.map(({ id }) => id))
  return {
    passed: outcomes.length - failed.length,
    failed: failed.length,
    unexpected: failed.filter(({ id }) => !expected.has(id)),
    stale: [...expected.keys()].filter((id) => !failedIds.has(id)),
  }
}

/** One line for each rule on which something differs. */
export function tableByRule(outcomes: readonly CaseOutcome[]): string {
  const rows = new Map<string, { missing: number; surplus: number; cases: Set<string> }>()
  for (const { id, missing, surplus } of outcomes) {
    for (const [list, column] of [
      [missing, 'missing'],
      [surplus, 'surplus'],
    ] as const) {
      for (const { rule } of list) {
        const row = rows.get(rule) ?? { missing: 0, surplus: 0, cases: new Set() }
        row[column] += 1
        row.cases.add(id)
        rows.set(rule, row)
      }
    }
  }
  const lines = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([rule, { missing, surplus, cases }]) =>
        `${rule.padEnd(60)} ${String(missing).padStart(7)} ${String(surplus).padStart(7)}  ${[...cases].join(' ')}`,
    )
  return [`${'rule'.padEnd(60)} missing surplus  cases`, ...lines].join('\n')
}
