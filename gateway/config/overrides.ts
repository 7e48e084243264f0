/**
 * Environment variables that override the configuration file: one variable for each leaf, checked as if it were in the file.
 */
import { recordIn } from '../json/unchecked-json.ts'
import { OTHER_VARIABLES, variable, type Environment } from '../settings/environment.ts'
import type { JsonSchema } from '../settings/input-schema.ts'
import { CONFIG_LEAVES, type ConfigLeaf } from './leaves.ts'
import type { Mistake } from '../errors/mistake.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { nearest, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { readSourceText } from '../settings/source-text.ts'

export interface Overridden {
  readonly value: unknown
  /** Which variable set the member at a pointer. */
  readonly origins: ReadonlyMap<string, string>
  readonly mistakes: readonly Mistake[]
  /** Unknown variables that begin with PREFLIGHT_. */
  readonly warnings: readonly Mistake[]
}

export function applyOverrides(value: unknown, environment: Environment): Overridden {
  const origins = new Map<string, string>()
  const mistakes: Mistake[] = []
  let result: unknown = value ?? {}
  for (const leaf of CONFIG_LEAVES) {
    const setting = overrideOf(leaf, environment, mistakes)
    // A file that is not a map is reported unchanged.
    if (setting === null || !isJsonObject(result)) continue
    const parsed = parseSetting(leaf.schema, setting)
    if (!parsed.ok) {
      const wanted = `type: ${leaf.type}`
      for (const { message, fix } of parsed.problem)
        mistakes.push({
          place: setting.name,
          path: leaf.path,
          message,
          fix: fix === '' ? wanted : `${fix}; ${wanted}`,
        })
      continue
    }
    result = withSetting(result, leaf.path.split('.'), parsed.value)
    origins.set(`/${leaf.path.replaceAll('.', '/')}`, setting.name)
  }
  return { value: result, origins, mistakes, warnings: unknownVariables(environment) }
}

interface Setting {
  readonly name: string
  readonly text: string
}

function overrideOf(leaf: ConfigLeaf, environment: Environment, mistakes: Mistake[]): Setting | null {
  const names = leaf.env === null ? [] : [...leaf.aliases, leaf.env]
  const set = names.flatMap((name): readonly Setting[] => {
    const text = variable(environment, name)
    return text === null ? [] : [{ name, text }]
  })
  const [first, second] = set
  if (first !== undefined && second !== undefined && first.text !== second.text)
    mistakes.push({
      place: second.name,
      path: leaf.path,
      message: `${first.name} and ${second.name} set the same thing to different values`,
      fix: `unset one of them`,
    })
  return first ?? null
}

function parseSetting(schema: JsonSchema, { name, text }: Setting): Result<unknown, readonly Mistake[]> {
  const kinds = new Set([schema, ...(schema.anyOf ?? [])].map(({ type }) => type).filter((type) => type !== undefined))
  if (kinds.size === 1 && kinds.has('string')) return ok(text)
  const source = readSourceText(name, text)
  return source.ok ? ok(source.value.value) : source
}

function withSetting(value: unknown, path: readonly string[], member: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return member
  const record = recordIn(value)
  return { ...record, [name]: withSetting(record[name], rest, member) }
}

function unknownVariables(environment: Environment): readonly Mistake[] {
  const known = new Set([
    ...Object.keys(OTHER_VARIABLES),
    ...CONFIG_LEAVES.flatMap(({ env, aliases }) => (env === null ? [] : [env, ...aliases])),
  ])
  const knownTails = [...known].map(withoutPrefix)
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name) && !isServiceVariable(name))
    .sort()
    .map((name) => {
      const suggestion = nearest(withoutPrefix(name), knownTails)
      return {
        place: name,
        path: '',
        message: 'this environment variable is not known and has no effect',
        fix: suggestion === null ? 'see docs/config.md' : `did you mean ${PREFIX}${suggestion}?`,
      }
    })
}

const PREFIX = 'PREFLIGHT_'

/** All names share the prefix, so it says nothing about which one is meant. */
function withoutPrefix(name: string): string {
  return name.slice(PREFIX.length)
}

/** Kubernetes sets these for every Service whose name begins with `preflight`. */
function isServiceVariable(name: string): boolean {
  return /_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$/.test(name)
}
