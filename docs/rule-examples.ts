/** The example of each rule, taken from the cases that the tests run: what is different between before and after, and where. */
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { examples } from '../test/engine/rules/examples.ts'
import { crdExamples, sharedExamples } from '../test/engine/rules/shared-examples.ts'
import { caseFormats, ruleCases, type RuleCase } from '../test/rules/cases.ts'

export interface RuleExample {
  /** JSON Pointer of what changed; empty: the document as a whole. */
  readonly where: string
  readonly before: string
  readonly after: string
  /** File of the case from the root; null for an example that the families make. */
  readonly file: string | null
  /** Options that the rule needs, as JSON; null for none. */
  readonly options: string | null
}

/** Longest side that is shown; the case itself is whole. */
const SHOWN_LENGTH = 240

export function ruleExamples(): ReadonlyMap<string, RuleExample> {
  const found = new Map<string, RuleExample>()
  for (const { rule, before, after, options } of examples()) {
    found.set(rule, exampleOf(before, after, { file: null, options: optionsText(options) }))
  }
  for (const [rule, before, after] of [...sharedExamples(), ...crdExamples()]) {
    found.set(rule, exampleOf(before, after, { file: null, options: null }))
  }
  for (const format of caseFormats())
    for (const shownCase of ruleCases(format)) found.set(shownCase.rule, exampleOfCase(shownCase))
  return found
}

type Source = Pick<RuleExample, 'file' | 'options'>

function exampleOfCase({ before, after, syntax, file, options }: RuleCase): RuleExample {
  const source: Source = { file, options: optionsText(options) }
  return syntax === 'text'
    ? { where: '', ...differentLines(before, after), ...source }
    : exampleOf(parse(before), parse(after), source)
}

function optionsText(options: unknown): string | null {
  const text = JSON.stringify(options ?? {})
  return text === '{}' ? null : text
}

function exampleOf(before: unknown, after: unknown, source: Source): RuleExample {
  const { path, old: base, now: head } = difference(before, after)
  const where = path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { where, before: shown(base), after: shown(head), ...source }
}

interface Difference {
  readonly path: readonly string[]
  /** Undefined where it is absent. */
  readonly old: unknown
  readonly now: unknown
}

/** The smallest part of both that holds all that is different. */
function difference(base: unknown, head: unknown, path: readonly string[] = []): Difference {
  const [before, after] = [membersOf(base), membersOf(head)]
  if (before === null || after === null || Array.isArray(base) !== Array.isArray(head))
    return { path, old: base, now: head }
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const different = names.filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
  const [only] = different
  if (only !== undefined && different.length === 1 && before.has(only) && after.has(only)) {
    const below = difference(before.get(only), after.get(only), [...path, only])
    // A keyword's value alone says little: the schema around it is shown while it is short.
    return isScalarChange(below) && isShort(base) && isShort(head) ? { path, old: base, now: head } : below
  }
  return isShort(base) && isShort(head)
    ? { path, old: base, now: head }
    : { path, old: picked(before, different), now: picked(after, different) }
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | null {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null
}

function isScalarChange({ old: before, now: after }: Difference): boolean {
  return [before, after].every((side) => typeof side !== 'object' || side === null)
}

function isShort(value: unknown): boolean {
  return (JSON.stringify(value) ?? '').length <= SHOWN_LENGTH / 2
}

function picked(members: ReadonlyMap<string, unknown>, names: readonly string[]): unknown {
  return Object.fromEntries(names.filter((name) => members.has(name)).map((name) => [name, members.get(name)]))
}

function shown(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value)
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
}

/** What is left of two texts without the lines that they begin and end with alike. */
function differentLines(before: string, after: string): Pick<RuleExample, 'before' | 'after'> {
  const [base, head] = [before.trimEnd().split('\n'), after.trimEnd().split('\n')]
  let start = 0
  while (start < Math.min(base.length, head.length) && base[start] === head[start]) start += 1
  let end = 0
  while (end < Math.min(base.length, head.length) - start && base.at(-1 - end) === head.at(-1 - end)) end += 1
  const between = (lines: readonly string[]): string => {
    const text = lines
      .slice(start, lines.length - end)
      .map((line) => line.trim())
      .join(' ')
    return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
  }
  return { before: between(base), after: between(head) }
}
