/** Options of a comparison, checked once and converted for the walkers. */
import type { FormatOptions } from '../model/format.ts'
import { compileLinearPattern, MAX_CALLER_PATTERN, type LinearPattern } from '../common/linear-pattern.ts'
import { fail, ok, type Result } from '../common/result.ts'
import { dayOf, daysBetween, type LifecycleOptions } from '../schema/lifecycle.ts'

export interface WalkOptions extends LifecycleOptions {
  readonly hasIncludedPathParameters: boolean
  readonly keepsPath: (path: string) => boolean
  readonly stripBase: string
  readonly stripHead: string
  /** Extension members of operations that findings carry. */
  readonly attributes: readonly string[]
}

export function walkOptionsOf(options: FormatOptions): Result<WalkOptions> {
  const match = compile('match_path', options.match_path)
  if (!match.ok) return match
  const unmatch = compile('unmatch_path', options.unmatch_path)
  if (!unmatch.ok) return unmatch
  const { today, onDayRead } = options
  if (today !== undefined && dayOf(today) === null) {
    return fail({
      code: 'INVALID_INPUT',
      message: `The option today is \`${today}\`; it must be a day YYYY-MM-DD.`,
    })
  }
  const attributes = options.attributes ?? []
  const strange = attributes.find((name) => !name.startsWith('x-'))
  if (strange !== undefined) {
    return fail({
      code: 'INVALID_INPUT',
      message: `The option attributes names \`${strange}\`, which is not an extension member: their names start with \`x-\`.`,
    })
  }
  const [included, excluded] = [match.value, unmatch.value]
  return ok({
    daysUntil: (day) => {
      if (today === undefined) return null
      onDayRead?.()
      return daysBetween(today, day)
    },
    deprecationDaysStable: options.deprecation_days_stable ?? 0,
    deprecationDaysBeta: options.deprecation_days_beta ?? 0,
    minimumStability: options.stability_level ?? 'beta',
    hasIncludedPathParameters: options.include_path_params ?? false,
    keepsPath: (path) => (included === null || included.test(path)) && (excluded === null || !excluded.test(path)),
    stripBase: options.strip_prefix_base ?? '',
    stripHead: options.strip_prefix_head ?? '',
    attributes,
  })
}

function compile(option: string, pattern: string | undefined): Result<LinearPattern | null> {
  if (pattern === undefined || pattern === '') return ok(null)
  const compiled = compileLinearPattern(pattern, MAX_CALLER_PATTERN)
  if (compiled.ok) return compiled
  return fail({ ...compiled.problem, message: `The option ${option} is refused. ${compiled.problem.message}` })
}
