/**
 * A text that selects rules, with one syntax for levels, waivers, ignore lists, `--level` and `preflight rules`. It
 * consists of parts with commas between them, all of which must match. A part is a rule id, in which `*` matches any
 * characters, or a coordinate and its value: `mcp-tool-*`, `format:openapi,kind:lifecycle`, `api-*,area:security`.
 */
import { ok, type Result } from '../../common/result.ts'
import { nearest } from '../../common/suggestion.ts'
import { COORDINATES, coordinatesOf, coordinateValues, isCoordinate, type Coordinate } from './coordinates.ts'
import { ruleOf, ruleTable } from './table.ts'

export const MAX_SELECTOR_LENGTH = 300

export interface RuleSelector {
  /** It names one rule by its id, without patterns or coordinates. */
  readonly isExact: boolean
  has(rule: string): boolean
}

/** A fault of a selector, with a suggestion. */
export interface SelectorFault {
  readonly message: string
  readonly fix: string
}

type SelectorPart = (rule: string) => boolean

/** A selector that matches no rule is an error: it would silently have no effect. */
export function readSelector(text: string): Result<RuleSelector, SelectorFault> {
  if (ruleOf(text) !== undefined) return ok({ isExact: true, has: (rule) => rule === text })
  if (text.length > MAX_SELECTOR_LENGTH)
    return selectorFault(`a selector of rules has up to ${MAX_SELECTOR_LENGTH} characters`, 'select by coordinates')
  const parts: SelectorPart[] = []
  for (const written of text.split(',')) {
    const part = readPart(written.trim())
    if (!part.ok) return part
    parts.push(part.value)
  }
  if (ruleTable().some(({ id }) => parts.every((part) => part(id)))) return ok(remembering(parts))
  return selectorFault(
    `no rule matches ${JSON.stringify(text)}`,
    '`preflight rules` lists all rules with their coordinates',
  )
}

/** Evaluated for every finding of a comparison, so results are cached. */
function remembering(parts: readonly SelectorPart[]): RuleSelector {
  const known = new Map<string, boolean>()
  return {
    isExact: false,
    has(rule) {
      const answer = known.get(rule) ?? parts.every((part) => part(rule))
      known.set(rule, answer)
      return answer
    },
  }
}

function readPart(text: string): Result<SelectorPart, SelectorFault> {
  const colon = text.indexOf(':')
  if (colon !== -1) return readCoordinate(text.slice(0, colon).trim(), text.slice(colon + 1).trim())
  if (!text.includes('*')) {
    if (ruleOf(text) !== undefined) return ok((rule) => rule === text)
    const guess = nearest(
      text,
      ruleTable().map(({ id }) => id),
    )
    return selectorFault(`there is no rule ${JSON.stringify(text)}`, suggestion(guess, 'docs/rules.md lists them'))
  }
  if (/^\**$/.test(text))
    return selectorFault(`${JSON.stringify(text)} selects every rule`, 'name a part of the ids as well')
  return ok((rule) => matchesPattern(rule, text))
}

function readCoordinate(name: string, value: string): Result<SelectorPart, SelectorFault> {
  if (!isCoordinate(name)) {
    const fix = suggestion(nearest(name, COORDINATES), `there are ${COORDINATES.join(', ')}`)
    return selectorFault(`there is no coordinate ${JSON.stringify(name)} of rules`, fix)
  }
  const wrong = valueFault(name, value)
  return wrong === null ? ok((rule) => coordinatesOf(rule)?.[name] === value) : { ok: false, problem: wrong }
}

/** Null if some rule has this value. */
function valueFault(coordinate: Coordinate, value: string): SelectorFault | null {
  const known = coordinateValues(coordinate)
  if (known.has(value)) return null
  const fix = suggestion(nearest(value, known), `there are ${[...known].sort().join(', ')}`)
  return { message: `no rule has the ${coordinate} ${JSON.stringify(value)}`, fix }
}

function suggestion(guess: string | null, otherwise: string): string {
  return guess === null ? otherwise : `did you mean "${guess}"?`
}

function selectorFault(message: string, fix: string): { readonly ok: false; readonly problem: SelectorFault } {
  return { ok: false, problem: { message, fix } }
}

/** Matches the parts between stars in order, so no pattern can be slow. */
function matchesPattern(id: string, pattern: string): boolean {
  const parts = pattern.split('*')
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (parts.length === 1) return id === pattern
  if (!id.startsWith(first) || !id.endsWith(last) || id.length < first.length + last.length) return false
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const at = id.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return from <= id.length - last.length
}
