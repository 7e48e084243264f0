/**
 * The reference's cases for OpenAPI, read as data: two documents, the options, and every change that is expected. Lies beside
 * the checkout and is absent for users who clone it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { CompareOptions, Level } from '../../engine/internal.ts'
import { at, listAt, textAt } from '../json.ts'

export const CASES_DIRECTORY = new URL('../../../shared/conformance/openapi/', import.meta.url).pathname

export const hasCases = existsSync(join(CASES_DIRECTORY, 'cases.json'))

/** The day on which the cases were recorded: their sunset days are relative to it. */
export const RECORDED_ON = '2026-11-21'

/** What a change is compared by; method and path are null for a change of the whole contract. */
export interface Verdict {
  readonly rule: string
  readonly level: string
  readonly method: string | null
  readonly path: string | null
}

export interface ConformanceCase {
  readonly id: string
  readonly base: string
  readonly head: string
  readonly options: CompareOptions
  readonly expect: readonly Verdict[]
}

export function readCases(): readonly ConformanceCase[] {
  return listAt(readJson('cases.json'), 'cases').map((row) => {
    const [base, head] = [textAt(row, 'base'), textAt(row, 'head')]
    const files = { base: neighbours(base), head: neighbours(head) }
    const hasFiles = Object.keys(files.base).length + Object.keys(files.head).length > 0
    return {
      id: textAt(row, 'id'),
      base: readText(base),
      head: readText(head),
      options: { ...optionsOf(listAt(row, 'flags').map(String)), ...(hasFiles ? { files } : {}) },
      expect: listAt(row, 'expect').map((change) => ({
        rule: textAt(change, 'rule'),
        level: textAt(change, 'level'),
        method: nullableText(at(change, 'method')),
        path: nullableText(at(change, 'path')),
      })),
    }
  })
}

export interface BlindSpot {
  readonly name: string
  readonly base: string
  readonly head: string
  readonly level: Level
}

/** Pairs on which the reference is silent, with the level that is right. */
export function readBlindSpots(): readonly BlindSpot[] {
  return listAt(readJson('blindspots.json'), 'cases').map((row) => {
    const level = textAt(row, 'suggested')
    if (level !== 'breaking' && level !== 'dangerous' && level !== 'info') throw new Error(`no level: ${level}`)
    return {
      name: textAt(row, 'name'),
      base: readText(textAt(row, 'base')),
      head: readText(textAt(row, 'head')),
      level,
    }
  })
}

/** Ids and default levels of the reference's rules. */
export function readReferenceRules(): ReadonlyMap<string, string> {
  return new Map(listAt(readJson('rules.json'), 'rules').map((rule) => [textAt(rule, 'id'), textAt(rule, 'level')]))
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(CASES_DIRECTORY, name), 'utf8'))
}

function readText(name: string): string {
  return readFileSync(join(CASES_DIRECTORY, 'data', name), 'utf8')
}

function nullableText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Files that references of a document name, from its folder down; none for a document that stands alone. */
function neighbours(name: string): Readonly<Record<string, string>> {
  if (!/\$ref["']?:\s*["']?[^#"'\s]/.test(readText(name))) return {}
  const folder = dirname(join(CASES_DIRECTORY, 'data', name))
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [relative(folder, path), readFileSync(path, 'utf8')]
    }),
  )
}

type Flag = (value: string) => CompareOptions

/** The reference's options, one row each; the matching of inline schemas with references cannot be turned off here. */
const FLAGS: Readonly<Record<string, Flag>> = {
  '--deprecation-days-stable': (value) => ({ deprecation_days_stable: Number(value) }),
  '--deprecation-days-beta': (value) => ({ deprecation_days_beta: Number(value) }),
  '--stability-level': (value) => (isStability(value) ? { stability_level: value } : {}),
  '--strip-prefix-base': (value) => ({ strip_prefix_base: value }),
  '--strip-prefix-revision': (value) => ({ strip_prefix_head: value }),
  '--match-path': (value) => ({ match_path: value }),
  '--unmatch-path': (value) => ({ unmatch_path: value }),
}

const SWITCHES: Readonly<Record<string, CompareOptions>> = {
  '--include-path-params': { include_path_params: true },
  '--case-insensitive-headers': { case_insensitive_headers: true },
  '--match-inline-refs=false': {},
}

function optionsOf(flags: readonly string[]): CompareOptions {
  let options: CompareOptions = { today: RECORDED_ON }
  for (let index = 0; index < flags.length; index += 1) {
    const name = flags[index] ?? ''
    const value = FLAGS[name]?.(flags[index + 1] ?? '')
    if (value !== undefined) index += 1
    const option = value ?? SWITCHES[name]
    if (option === undefined) throw new Error(`the cases use the option ${name}, which has no row`)
    options = { ...options, ...option }
  }
  return options
}

type StabilityLevel = NonNullable<CompareOptions['stability_level']>

function isStability(value: string): value is StabilityLevel {
  return value === 'draft' || value === 'alpha' || value === 'beta' || value === 'stable'
}
