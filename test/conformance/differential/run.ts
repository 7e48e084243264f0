/**
 * The differential run: every mutation through the reference and through the engine, many to a document, and where the two
 * tell other rules. What differs must be listed in deviations.yaml with the reason.
 */
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { listAt, textAt } from '../../json.ts'
import { readReferenceRules, type Verdict } from '../openapi-cases.ts'
import { compareInEngine, without } from '../openapi-run.ts'
import { mutationsOf, type Mutation } from './mutations.ts'
import type { Reference } from './reference.ts'
import { componentsOf, type Language } from './schemas.ts'

/** The reference matches paths pairwise: more of them to a document would cost it more than starting anew. */
const PATHS_PER_DOCUMENT = 400

/** Sunset days are far in the past or far ahead: any day between them judges alike. */
const TODAY = '2026-11-21'

const SCHEMES = {
  key: { type: 'apiKey', in: 'header', name: 'k' },
  other: { type: 'http', scheme: 'bearer' },
  oauth: {
    type: 'oauth2',
    flows: { implicit: { authorizationUrl: 'https://a.example', scopes: { read: 'r', write: 'w' } } },
  },
}

/** Where the two differ on one mutation: rules that the reference's build has, and that one of them told and the other did not. */
export interface Difference {
  readonly mutation: Mutation
  readonly missing: readonly string[]
  readonly surplus: readonly string[]
}

/** Runs every `step`-th mutation of a language; the first one is the `step`-th. */
export async function differences(
  reference: Reference,
  language: Language,
  step: number,
): Promise<readonly Difference[]> {
  const mutations = mutationsOf(language).filter((_, index) => (index + 1) % step === 0)
  const found: Difference[] = []
  for (let start = 0; start < mutations.length; start += PATHS_PER_DOCUMENT) {
    found.push(...(await differencesOf(reference, language, mutations.slice(start, start + PATHS_PER_DOCUMENT))))
  }
  return found
}

async function differencesOf(
  reference: Reference,
  language: Language,
  mutations: readonly Mutation[],
): Promise<readonly Difference[]> {
  const levels = readReferenceRules()
  const [base, head] = [documentOf(language, mutations, 'base'), documentOf(language, mutations, 'head')]
  // Levels that changed since this build of the reference are taken from the list of its rules.
  const theirs = reference
    .compare(base, head)
    .map((verdict) => ({ ...verdict, level: levels.get(verdict.rule) ?? verdict.level }))
  const ours = (await compareInEngine(base, head, { today: TODAY })).filter(
    ({ rule, level }) => reference.rules.has(rule) || level === 'problem',
  )
  const [reported, expected] = [byPath(ours), byPath(theirs)]
  return mutations.flatMap((mutation, index) => {
    const path = pathOf(index)
    const [got, want] = [reported.get(path) ?? [], expected.get(path) ?? []]
    const [missing, surplus] = [without(want, got), without(got, want)]
    return missing.length + surplus.length === 0
      ? []
      : [{ mutation, missing: missing.map(({ rule }) => rule), surplus: surplus.map(({ rule }) => rule) }]
  })
}

function byPath(verdicts: readonly Verdict[]): ReadonlyMap<string | null, readonly Verdict[]> {
  return Map.groupBy(verdicts, ({ path }) => path)
}

function pathOf(index: number): string {
  return `/m${index}`
}

function documentOf(language: Language, mutations: readonly Mutation[], side: 'base' | 'head'): string {
  const items = mutations.map(({ before, after }, index) => [pathOf(index), side === 'base' ? before : after])
  return JSON.stringify({
    openapi: language,
    info: { title: 'mutations', version: '1' },
    paths: Object.fromEntries(items),
    components: { schemas: componentsOf(side), securitySchemes: SCHEMES },
  })
}

/** What differs in one group of mutations, and why; in rules `*` stands for the place of a schema. */
export interface Deviation {
  readonly groups: readonly string[]
  readonly missing: readonly string[]
  readonly surplus: readonly string[]
  readonly reason: string
}

export function readDeviations(): readonly Deviation[] {
  const text = readFileSync(new URL('deviations.yaml', import.meta.url), 'utf8')
  return listAt(load(text), 'deviations').map((row) => ({
    groups: listAt(row, 'groups').map(String),
    missing: listAt(row, 'missing').map(String),
    surplus: listAt(row, 'surplus').map(String),
    reason: textAt(row, 'reason'),
  }))
}

const PLACES =
  /^(?:request-parameter-property|request-parameter|request-property|request-body|request-header-property|request-header|response-header-property|response-header|response-property|response-body|response-mediatype)-/

/** A rule without the place of its schema: what one row of deviations says of all places. */
export function stemOf(rule: string): string {
  return rule.replace(PLACES, '*-')
}

type Kind = 'missing' | 'surplus'

/** One line for each rule that differs and is in no row. */
export function unlisted(found: readonly Difference[], deviations: readonly Deviation[]): readonly string[] {
  const lines = found.flatMap(({ mutation, ...kinds }) =>
    (['missing', 'surplus'] as const).flatMap((kind) =>
      kinds[kind]
        .filter((rule) => !isListed(mutation.group, kind, rule, deviations))
        .map((rule) => line(mutation, kind, rule)),
    ),
  )
  return [...new Set(lines)]
}

function line({ name }: Mutation, kind: Kind, rule: string): string {
  return `${kind === 'missing' ? 'the reference alone' : 'the engine alone'}: ${rule} on ${name}`
}

function isListed(group: string, kind: Kind, rule: string, deviations: readonly Deviation[]): boolean {
  const stem = stemOf(rule)
  return deviations.some((row) => row.groups.includes(group) && row[kind].includes(stem))
}

/** Groups and rules of rows on which nothing differs any more. */
export function stale(found: readonly Difference[], deviations: readonly Deviation[]): readonly string[] {
  const differing = new Set(
    found.flatMap(({ mutation: { group }, missing, surplus }) => [
      ...missing.map((rule) => `${group} missing ${stemOf(rule)}`),
      ...surplus.map((rule) => `${group} surplus ${stemOf(rule)}`),
    ]),
  )
  return deviations.flatMap(({ groups, missing, surplus }) => {
    const parts = [...missing.map((rule) => `missing ${rule}`), ...surplus.map((rule) => `surplus ${rule}`)]
    const rules = parts.filter((part) => !groups.some((group) => differing.has(`${group} ${part}`)))
    const idle = groups.filter((group) => !parts.some((part) => differing.has(`${group} ${part}`)))
    return [...rules.map((rule) => `${rule} in ${groups.join(', ')}`), ...idle.map((group) => `group ${group}`)]
  })
}
