/** The options of a comparison (docs/reference/api.md#post-apidiff) on the command line: one row for each, with its meaning. */
import {
  compileLinearPattern,
  LEVELS,
  MAX_CALLER_PATTERN,
  readLevels,
  type CompareOptions,
  type LevelOverride,
} from '../../engine/internal.ts'
import { UsageError, type Arguments, type OptionSpec } from './command.ts'

const STABILITIES = ['draft', 'alpha', 'beta', 'stable'] as const
const OVERRIDES = [...LEVELS, 'off'] as const

export const COMPARE_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'level',
    value: 'RULES=LEVEL',
    isRepeatable: true,
    help: `Set the level of rules: ${OVERRIDES.join(', ')}. RULES is an id, mcp-tool-*, or format:openapi,kind:lifecycle.`,
  },
  { name: 'match-path', value: 'REGEX', help: 'Compare only the paths that match.' },
  { name: 'unmatch-path', value: 'REGEX', help: 'Leave out the paths that match.' },
  {
    name: 'strip-prefix-base',
    value: 'PREFIX',
    help: 'Remove this prefix from the paths of BASE before they are matched.',
  },
  {
    name: 'strip-prefix-head',
    value: 'PREFIX',
    help: 'Remove this prefix from the paths of HEAD before they are matched.',
  },
  {
    name: 'include-path-params',
    help: 'Path parameters are matched by name: /users/{id} and /users/{userId} are two paths.',
  },
  {
    name: 'case-insensitive-headers',
    help: 'Accepted for compatibility: header names are always matched in any letter case.',
  },
  {
    name: 'attribute',
    value: 'NAME',
    isRepeatable: true,
    help: 'Extension member of operations, such as x-team, that findings of --format json contain.',
  },
  {
    name: 'deprecation-days-stable',
    value: 'DAYS',
    help: 'Minimum days between deprecation and sunset of stable parts.',
  },
  { name: 'deprecation-days-beta', value: 'DAYS', help: 'Minimum days between deprecation and sunset of beta parts.' },
  {
    name: 'stability-level',
    value: 'LEVEL',
    allowed: STABILITIES,
    help: 'Parts less stable than this may change freely; default: beta.',
  },
]

/** Throws a UsageError on an invalid value. */
export function compareOptionsOf(args: Arguments): CompareOptions {
  const stability = STABILITIES.find((level) => level === args.value('stability-level'))
  return present({
    levels: statedLevels(args.values('level')),
    match_path: pattern(args, 'match-path'),
    unmatch_path: pattern(args, 'unmatch-path'),
    strip_prefix_base: args.value('strip-prefix-base'),
    strip_prefix_head: args.value('strip-prefix-head'),
    include_path_params: args.flag('include-path-params') || undefined,
    case_insensitive_headers: args.flag('case-insensitive-headers') || undefined,
    deprecation_days_stable: days(args, 'deprecation-days-stable'),
    deprecation_days_beta: days(args, 'deprecation-days-beta'),
    stability_level: stability,
    attributes: statedAttributes(args.values('attribute')),
  })
}

function statedAttributes(names: readonly string[]): CompareOptions['attributes'] {
  const strange = names.find((name) => !name.startsWith('x-'))
  if (strange !== undefined) {
    throw new UsageError(`--attribute ${JSON.stringify(strange)} is not an extension member: their names start with x-`)
  }
  return names.length === 0 ? undefined : names
}

type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/** Absent is not undefined: the engine's defaults apply to options that were not given. */
function present(options: Optional<CompareOptions>): CompareOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function statedLevels(overrides: readonly string[]): CompareOptions['levels'] {
  if (overrides.length === 0) return undefined
  const stated = Object.fromEntries(overrides.map(levelOverride))
  const levels = readLevels(stated)
  if (levels.ok) return stated
  throw new UsageError(levels.problem.map(({ message, fix }) => `--level: ${message}; ${fix}`).join('\n'))
}

function levelOverride(override: string): readonly [selector: string, level: LevelOverride] {
  const at = override.lastIndexOf('=')
  const level = OVERRIDES.find((known) => known === override.slice(at + 1))
  if (at !== -1 && level !== undefined) return [override.slice(0, at), level]
  throw new UsageError(`--level ${JSON.stringify(override)} is not RULES=LEVEL with one of ${OVERRIDES.join(', ')}`)
}

function pattern(args: Arguments, name: string): string | undefined {
  const text = args.value(name)
  if (text === undefined) return undefined
  const compiled = compileLinearPattern(text, MAX_CALLER_PATTERN)
  if (!compiled.ok) throw new UsageError(`--${name}: ${compiled.problem.message}`)
  return text
}

function days(args: Arguments, name: string): number | undefined {
  const text = args.value(name)
  if (text === undefined) return undefined
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number
  throw new UsageError(`--${name} takes a whole number of days, not ${JSON.stringify(text)}`)
}
