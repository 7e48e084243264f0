/**
 * The recorded verdicts of `buf breaking`, category by category, against ours: on buf’s own cases by rule and file, on real
 * contracts by rule. A finding of ours counts as the rules of buf that it stands for.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { compare } from '../../engine/formats/compare.ts'
import { parsePointer } from '../../engine/contracts/pointer.ts'
import type { FindingGroup } from '../../engine/model/finding.ts'
import { bufRulesOf } from '../../engine/rules/protobuf/rows.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'
import { readProtoSet } from '../engine/protobuf/contracts.ts'
import { at, listAt, textAt } from '../json.ts'

const SHARED = new URL('../../../shared/', import.meta.url).pathname
const CASES = join(SHARED, 'conformance/protobuf')
const CORPUS = join(SHARED, 'corpus/protobuf')

export const hasBufCases = existsSync(join(CASES, 'cases.json'))

export const CATEGORIES = ['FILE', 'PACKAGE', 'WIRE_JSON', 'WIRE'] as const
export type Category = (typeof CATEGORIES)[number]

export interface BufCase {
  /** `case/CATEGORY`. */
  readonly id: string
  readonly category: Category
  readonly before: string
  readonly after: string
  /** What buf reports: `RULE` or `RULE path`, sorted. */
  readonly expected: readonly string[]
  readonly hasPaths: boolean
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** buf’s own cases; some keep the base side below `root`. */
export function readBufCases(): readonly BufCase[] {
  return listAt(readJson(join(CASES, 'cases.json')), 'cases').flatMap((recorded) => {
    const name = textAt(recorded, 'dir')
    const base = join(CASES, 'previous', name)
    const before = readProtoSet(existsSync(join(base, 'root')) ? join(base, 'root') : base)
    const after = readProtoSet(join(CASES, 'current', name))
    return CATEGORIES.map((category): BufCase => {
      const items = listAt(recorded, category, 'items')
      const expected = items.map((item) => verdictOf(textAt(item, 'type'), at(item, 'path')))
      return { id: `${name}/${category}`, category, before, after, expected, hasPaths: true }
    })
  })
}

/** Here, a removed element is reported at its old place; buf reports the current place of its parent. */
const WITHOUT_PATH = /_NO_DELETE|_SAME_REQUIRED_FIELDS$/

function verdictOf(rule: string, path: unknown): string {
  return typeof path === 'string' && !WITHOUT_PATH.test(rule) ? `${rule} ${path}` : rule
}

/** Real contracts with all that they import; the places were not recorded. */
export function readCorpusCases(): readonly BufCase[] {
  const index = readJson(join(CORPUS, 'INDEX.json'))
  return (Array.isArray(index) ? index : []).flatMap((entry: unknown) => {
    const name = textAt(entry, 'name')
    const report = readJson(join(CORPUS, name, 'buf.json'))
    const before = readProtoSet(join(CORPUS, name, 'before'))
    const after = readProtoSet(join(CORPUS, name, 'after'))
    return CATEGORIES.map((category): BufCase => {
      const expected = listAt(report, 'results', category, 'items').map((item) => textAt(item, 'type'))
      return { id: `${name}/${category}`, category, before, after, expected, hasPaths: false }
    })
  })
}

/** Rule of buf → the categories that hold it. */
function readCategories(): ReadonlyMap<string, readonly unknown[]> {
  const rules = readJson(join(CASES, 'rules.json'))
  return new Map(
    (Array.isArray(rules) ? rules : []).map((rule: unknown) => [textAt(rule, 'id'), listAt(rule, 'categories')]),
  )
}

export interface BufOutcome {
  readonly id: string
  readonly missing: readonly string[]
  readonly surplus: readonly string[]
}

export function runBufCases(cases: readonly BufCase[]): readonly BufOutcome[] {
  const categories = readCategories()
  const compared = new Map<string, readonly FindingGroup[]>()
  return cases.map(({ id, category, before, after, expected, hasPaths }) => {
    const pair = id.slice(0, id.lastIndexOf('/'))
    const groups = compared.get(pair) ?? groupsOf(before, after)
    compared.set(pair, groups)
    const ours = groups.flatMap(({ rule, location }) =>
      bufRulesOf(rule)
        .filter((name) => categories.get(name)?.includes(category))
        .map((name) => (hasPaths ? verdictOf(name, pathOf(location)) : name)),
    )
    return { id, missing: without(expected, ours), surplus: without(ours, expected) }
  })
}

function groupsOf(before: string, after: string): readonly FindingGroup[] {
  const result = compare({ id: 'proto', type: 'protobuf', before, after }, {}, sha256Hex)
  if (!result.ok) throw new Error(`${result.problem.message} (${result.problem.pointer})`)
  return result.value.groups
}

function pathOf(location: string): string {
  return parsePointer(location)?.[0] ?? ''
}

/** What a list holds more often than another. */
export function without(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other]
  return list
    .filter((item) => {
      const found = left.indexOf(item)
      if (found < 0) return true
      left.splice(found, 1)
      return false
    })
    .sort()
}

export interface BufReport {
  readonly passed: number
  readonly failed: number
  readonly unexpected: readonly string[]
  /** Listed, but passed or gone. */
  readonly stale: readonly string[]
}

/** Holds outcomes against the list of differences; only what was run can be stale. */
export function bufReportOf(outcomes: readonly BufOutcome[], listed: ReadonlyMap<string, string>): BufReport {
  const failed = outcomes.filter(({ missing, surplus }) => missing.length + surplus.length > 0)
  const failedIds = new Set(failed.map(({ id }) => id))
  return {
    passed: outcomes.length - failed.length,
    failed: failed.length,
    unexpected: failed
      .filter(({ id }) => !listed.has(id))
      .map(
        ({ id, missing, surplus }) =>
          `${id}: missing ${missing.join(', ') || '–'}; surplus ${surplus.join(', ') || '–'}`,
      ),
    stale: [...listed.keys()].filter((id) => !failedIds.has(id)),
  }
}

/** `case/CATEGORY` → why we judge otherwise. */
export function readListedDifferences(): ReadonlyMap<string, string> {
  const text = readFileSync(new URL('expected-failures.yaml', import.meta.url), 'utf8')
  return new Map(
    listAt(load(text), 'protobuf').flatMap((row) =>
      listAt(row, 'categories').map(
        (category) => [`${textAt(row, 'case')}/${String(category)}`, textAt(row, 'reason')] as const,
      ),
    ),
  )
}

/** How often buf reported each rule, and on how many cases we differ. */
export function tableByBufRule(outcomes: readonly BufOutcome[], cases: readonly BufCase[]): string {
  const rows = new Map<string, { expected: number; missing: number; surplus: number }>()
  const count = (verdicts: readonly string[], column: 'expected' | 'missing' | 'surplus'): void => {
    for (const verdict of verdicts) {
      const rule = verdict.split(' ')[0] ?? verdict
      const row = rows.get(rule) ?? { expected: 0, missing: 0, surplus: 0 }
      row[column] += 1
      rows.set(rule, row)
    }
  }
  for (const { expected } of cases) count(expected, 'expected')
  for (const { missing, surplus } of outcomes) {
    count(missing, 'missing')
    count(surplus, 'surplus')
  }
  const lines = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([rule, { expected, missing, surplus }]) =>
      [rule.padEnd(48), ...[expected, missing, surplus].map((number) => String(number).padStart(9))].join(''),
    )
  return [`${'rule of buf'.padEnd(48)} reported  missing  surplus`, ...lines].join('\n')
}
