/** Keywords that name values: enum, const, default, pattern and the extensible enum. */
import type { Examination } from './comparison.ts'
import { isEqual, valueKey } from './equality.ts'
import { isNullTold } from './types.ts'
import type { JsonRecord } from './located.ts'

type Sides = Pick<Examination, 'old' | 'now' | 'say'>

export function compareValues(examination: Examination): void {
  compareEnum(examination)
  compareSingle(examination, 'const')
  compareDefault(examination)
  comparePattern(examination)
  compareExtensibleEnum(examination)
}

function compareEnum({ old, now, say }: Examination): void {
  const before = listOf(old, 'enum')
  const after = listOf(now, 'enum')
  if (before === null && after === null) return
  if (before === null || after === null) {
    const action = before === null ? 'became' : 'ceased'
    say({ keyword: 'enum', action, name: null, before, after, steps: ['enum'] })
    return
  }
  // That null came or went is told by the nullability, once.
  const withoutNull = isNullTold(old, now)
  tellValues(before, after, withoutNull, 'enum', say)
}

function compareExtensibleEnum({ old, now, say }: Examination): void {
  const before = listOf(old, 'x-extensible-enum')
  const after = listOf(now, 'x-extensible-enum')
  if (before !== null && after !== null) tellValues(before, after, false, 'x-extensible-enum', say)
}

function tellValues(
  before: readonly unknown[],
  after: readonly unknown[],
  withoutNull: boolean,
  keyword: string,
  say: Examination['say'],
): void {
  const old = new Map(before.map((value, index) => [valueKey(value), index]))
  const now = new Map(after.map((value, index) => [valueKey(value), index]))
  for (const [key, index] of old) {
    if (now.has(key) || (withoutNull && key === 'null')) continue
    say({
      keyword,
      action: 'removed',
      name: nameValue(before[index]),
      before: before[index],
      after: null,
      steps: [keyword, String(index)],
    })
  }
  for (const [key, index] of now) {
    if (old.has(key) || (withoutNull && key === 'null')) continue
    say({
      keyword,
      action: 'added',
      name: nameValue(after[index]),
      before: null,
      after: after[index],
      steps: [keyword, String(index)],
    })
  }
}

export function compareDefault(sides: Sides): void {
  compareSingle(sides, 'default')
}

function compareSingle({ old, now, say }: Sides, keyword: 'const' | 'default'): void {
  const had = Object.hasOwn(old, keyword) && old[keyword] !== undefined
  const has = Object.hasOwn(now, keyword) && now[keyword] !== undefined
  if (!had && !has) return
  const before = had ? old[keyword] : null
  const after = has ? now[keyword] : null
  if (had && has && isEqual(before, after)) return
  const action = had ? (has ? 'changed' : 'removed') : 'added'
  say({ keyword, action, name: nameValue(has ? after : before), before, after, steps: [keyword] })
}

/** Patterns that every string matches. */
const ANY_PATTERN: ReadonlySet<string> = new Set(['.*', '^.*$', '^.*', '.*$'])

function comparePattern({ old, now, say }: Examination): void {
  const before = typeof old.pattern === 'string' && old.pattern !== '' ? old.pattern : null
  const after = typeof now.pattern === 'string' && now.pattern !== '' ? now.pattern : null
  if (before === after) return
  const action =
    before === null ? 'added' : after === null ? 'removed' : ANY_PATTERN.has(after) ? 'generalized' : 'changed'
  say({ keyword: 'pattern', action, name: after ?? before, before, after, steps: ['pattern'] })
}

function listOf(schema: JsonRecord, keyword: string): readonly unknown[] | null {
  const value = schema[keyword]
  return Array.isArray(value) ? value : null
}

/** A value as people write it. */
export function nameValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
}
