/** Runs recorded and live verdicts of the references against ours, and says where they differ, by kind of change. */
import { existsSync, readFileSync } from 'node:fs'
import { diff } from '@graphql-inspector/core'
import { load } from 'js-yaml'
import { BreakingChangeType, buildSchema, DangerousChangeType, findSchemaChanges, type GraphQLSchema } from 'graphql'
import { byCodeUnit } from '../../engine/common/code-unit-order.ts'
import type { FindingGroup, Level } from '../../engine/model/finding.ts'
import { at, listAt, textAt } from '../json.ts'
import { compared } from '../engine/graphql/compared.ts'
import { ruleCases } from '../rules/cases.ts'
import { Findings, type Coverage, type ReferenceEntry } from './graphql-references.ts'

const CORPUS = new URL('../../../shared/corpus/graphql/', import.meta.url)

export const hasCorpus = existsSync(CORPUS)

/** Two schemas, and what the references say of them. */
export interface GraphqlCase {
  readonly id: string
  readonly before: string
  readonly after: string
  readonly entries: readonly ReferenceEntry[]
}

const LEVEL_NAMES: Readonly<Record<string, Level>> = {
  BREAKING: 'breaking',
  DANGEROUS: 'dangerous',
  NON_BREAKING: 'info',
}

function levelOf(name: string): Level {
  const level = LEVEL_NAMES[name]
  if (level === undefined) throw new Error(`no level: ${name}`)
  return level
}

/** Real schemas with the verdicts that were recorded. */
export function readCorpus(): readonly GraphqlCase[] {
  return listAt(JSON.parse(readFileSync(new URL('INDEX.json', CORPUS), 'utf8'))).map((row) => {
    const id = textAt(row, 'name')
    const read = (file: string): string => readFileSync(new URL(`${id}/${file}`, CORPUS), 'utf8')
    const expected: unknown = JSON.parse(read('expected.json'))
    const js = (['breaking', 'dangerous'] as const).flatMap((level) =>
      listAt(at(expected, 'graphqlJs'), level).map((change): ReferenceEntry => {
        const message = textAt(change, 'description')
        return { reference: 'graphql-js', kind: textAt(change, 'type'), level, path: null, message }
      }),
    )
    const inspector = listAt(at(expected, 'inspector'), 'changes').map((change): ReferenceEntry => {
      const [kind, path, message] = [textAt(change, 'type'), textAt(change, 'path'), textAt(change, 'message')]
      return { reference: 'inspector', kind, level: levelOf(textAt(change, 'level')), path, message }
    })
    return { id, before: read('before.graphql'), after: read('after.graphql'), entries: [...js, ...inspector] }
  })
}

/** The pairs of our rules with what the installed references say of them now: every kind of change they know is met. */
export async function readPairs(): Promise<readonly GraphqlCase[]> {
  const cases: GraphqlCase[] = []
  for (const { rule: id, before, after } of ruleCases('graphql').toSorted((a, b) => byCodeUnit(a.rule, b.rule))) {
    const entries = await askReferences(before, after)
    if (entries !== null) cases.push({ id, before, after, entries })
  }
  return cases
}

function build(text: string): GraphQLSchema {
  return buildSchema(text, { assumeValidSDL: true, assumeValid: true })
}

/** Null where the references cannot build a schema: they refuse what is not defined. */
export async function askReferences(before: string, after: string): Promise<readonly ReferenceEntry[] | null> {
  let base, head
  try {
    base = build(before)
    head = build(after)
  } catch {
    return null
  }
  const js = findSchemaChanges(base, head).flatMap(({ type, description }): ReferenceEntry[] => {
    const level = type in BreakingChangeType ? 'breaking' : type in DangerousChangeType ? 'dangerous' : null
    return level === null ? [] : [{ reference: 'graphql-js', kind: type, level, path: null, message: description }]
  })
  const inspector = (await diff(base, head)).map(({ type, criticality, path, message }): ReferenceEntry => {
    return { reference: 'inspector', kind: type, level: levelOf(criticality.level), path: path ?? null, message }
  })
  return [...js, ...inspector]
}

export interface EntryOutcome {
  readonly id: string
  readonly entry: ReferenceEntry
  readonly coverage: Coverage
}

export interface GraphqlReport {
  readonly outcomes: readonly EntryOutcome[]
  /** Breaking and dangerous findings of ours that no reference has at that level. */
  readonly beyond: readonly { readonly id: string; readonly group: FindingGroup }[]
}

export function runGraphql(cases: readonly GraphqlCase[]): GraphqlReport {
  const outcomes: EntryOutcome[] = []
  const beyond: { readonly id: string; readonly group: FindingGroup }[] = []
  for (const { id, before, after, entries } of cases) {
    const { groups } = compared(before, after)
    const findings = new Findings(groups)
    const backed = new Set<FindingGroup>()
    for (const entry of entries) {
      const coverage = findings.cover(entry)
      outcomes.push({ id, entry, coverage })
      if (coverage.kind !== 'told') continue
      for (const group of coverage.groups) if (group.level === entry.level) backed.add(group)
    }
    for (const group of groups) if (group.level !== 'info' && !backed.has(group)) beyond.push({ id, group })
  }
  return { outcomes, beyond }
}

export function isCovered({ coverage }: EntryOutcome): boolean {
  return coverage.kind === 'told' || coverage.kind === 'part-of-new'
}

/** A name for an outcome that lists of reasons use: the reference, what it says, how we differ. */
export function differenceOf({ entry, coverage }: EntryOutcome): string {
  const rules =
    coverage.kind === 'weaker' ? ` as ${[...new Set(coverage.groups.map(({ rule }) => rule))].join(', ')}` : ''
  return `${entry.reference} ${entry.level} ${entry.kind}: ${coverage.kind}${rules}`
}

export interface ExpectedDifferences {
  /** Differences that are meant, by `differenceOf`: the reason. */
  readonly weaker: ReadonlyMap<string, string>
  /** Rules of ours that are stricter than both references: the reason. */
  readonly beyond: ReadonlyMap<string, string>
}

export function readExpectedDifferences(): ExpectedDifferences {
  const text = readFileSync(new URL('expected-failures.yaml', import.meta.url), 'utf8')
  const rows = at(load(text), 'graphql')
  const read = (list: string, key: string): ReadonlyMap<string, string> =>
    new Map(listAt(rows, list).map((row) => [textAt(row, key), textAt(row, 'reason')]))
  return { weaker: read('weaker', 'difference'), beyond: read('beyond', 'rule') }
}

export interface Verdict {
  readonly passed: number
  readonly failed: number
  readonly unexpected: readonly string[]
  /** Listed, and met nowhere: only known when every case was run. */
  readonly stale: readonly string[]
}

export function verdictOf({ outcomes, beyond }: GraphqlReport, expected: ExpectedDifferences): Verdict {
  const open = outcomes.filter((outcome) => !isCovered(outcome))
  const differences = new Set(open.map(differenceOf))
  const strict = new Set(beyond.map(({ group }) => group.rule))
  return {
    passed: outcomes.length - open.length,
    failed: open.length,
    unexpected: [
      ...open
        .filter((outcome) => !expected.weaker.has(differenceOf(outcome)))
        .map((outcome) => `${outcome.id}: ${differenceOf(outcome)}: ${outcome.entry.message}`),
      ...beyond
        .filter(({ group }) => !expected.beyond.has(group.rule))
        .map(({ id, group }) => `${id}: beyond the references: ${group.level} ${group.rule} ${group.location}`),
    ],
    stale: [
      ...[...expected.weaker.keys()].filter((difference) => !differences.has(difference)),
      ...[...expected.beyond.keys()].filter((rule) => !strict.has(rule)),
    ],
  }
}

function line(name: string, ...columns: readonly unknown[]): string {
  return [name.padEnd(66), ...columns.map((column) => String(column).padStart(11))].join(' ')
}

/** One line for each kind of change. */
export function tableByKind(outcomes: readonly EntryOutcome[]): string {
  const rows = new Map<string, { same: number; stricter: number; part: number; open: number }>()
  for (const { entry, coverage } of outcomes) {
    const key = `${entry.reference} ${entry.level} ${entry.kind}`
    const row = rows.get(key) ?? { same: 0, stricter: 0, part: 0, open: 0 }
    rows.set(key, row)
    if (coverage.kind === 'told') row[coverage.isSameLevel ? 'same' : 'stricter'] += 1
    else row[coverage.kind === 'part-of-new' ? 'part' : 'open'] += 1
  }
  return [
    line('change', 'same level', 'stricter', 'part of new', 'not covered'),
    ...[...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, r]) => line(key, r.same, r.stricter, r.part, r.open)),
  ].join('\n')
}
