/**
 * The members of a format by its grammar, each changed in a document that has them all. A member whose change appears in no
 * finding, or in information alone, needs a reason: a table of the format has it. So a new member, or one that is
 * compared no longer, fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ArtifactType } from '../../../engine/internal.ts'
import { isRecord } from '../../../engine/schema/located.ts'
import { withValueAt } from '../edits.ts'
import { foundBetween } from '../edit-run.ts'
import type { Worst } from '../elements.ts'

/** By kind of object and member, the form of what the member holds. */
type Grammar = Readonly<Record<string, Readonly<Record<string, string>>>>

/**
 * A line for each kind of object: `kind: member=form …`. The form is a `kind`, a list `kind[]` or a map `kind{}`; a member
 * without one holds a plain value. `*` is every other name.
 */
function readGrammar(text: string): Grammar {
  const lines = text.trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => {
      const [kind = '', members = ''] = line.trim().split(': ')
      const named = members.split(' ').map((member) => {
        const [name = '', form = ''] = member.split('=')
        return [name, form] as const
      })
      return [kind, Object.fromEntries(named)]
    }),
  )
}

/** Why readers and callers do not need to know of a change. */
type Reasons = Readonly<Record<string, string>>

/** Names, texts and examples that no message shows. */
export function forPeople(members: string): Reasons {
  return Object.fromEntries(
    members
      .trim()
      .split(/\s+/)
      .map((member) => [member, 'It is for people.']),
  )
}

interface FormatMembers {
  readonly type: ArtifactType
  /** As `readGrammar` takes it. The first kind is that of the document. */
  readonly grammar: string
  readonly document: unknown
  /** `kind.member` → why its change is in no finding. */
  readonly silent: Reasons
  /** `kind.member` → why its change is information in both directions. */
  readonly harmless: Reasons
}

type Path = readonly (string | number)[]

interface Occurrence {
  /** `kind.member` */
  readonly member: string
  readonly path: Path
  readonly value: unknown
}

/** All members that a value holds, by the grammar. Extensions and references are no members. */
function* occurrencesIn(value: unknown, kind: string, grammar: Grammar, path: Path = []): Generator<Occurrence> {
  const members = grammar[kind]
  assert.ok(members !== undefined, `no kind ${kind}`)
  if (!isRecord(value)) return
  for (const [name, held] of Object.entries(value)) {
    if ((name.startsWith('x-') || name === '$ref') && members[name] === undefined) continue
    const isNamed = members[name] === undefined
    const form = members[name] ?? members['*']
    assert.ok(form !== undefined, `${kind} has no ${name}: /${path.join('/')}`)
    const at = [...path, name]
    yield { member: `${kind}.${isNamed ? '*' : name}`, path: at, value: held }
    yield* heldIn(held, form, grammar, at)
  }
}

function* heldIn(value: unknown, form: string, grammar: Grammar, path: Path): Generator<Occurrence> {
  if (form === '') return
  if (form.endsWith('[]')) {
    const items: readonly unknown[] = Array.isArray(value) ? value : []
    for (const [index, item] of items.entries())
      yield* occurrencesIn(item, form.slice(0, -2), grammar, [...path, index])
  } else if (form.endsWith('{}')) {
    for (const [name, item] of Object.entries(isRecord(value) ? value : {}))
      yield* occurrencesIn(item, form.slice(0, -2), grammar, [...path, name])
  } else yield* occurrencesIn(value, form, grammar, path)
}

/** Other values of the same form, and none. */
function otherValues(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [undefined, !value]
  if (typeof value === 'number') return [undefined, value + 1]
  if (typeof value === 'string') return [undefined, `${value}x`]
  if (Array.isArray(value)) return [undefined, [], value.slice(1)]
  return isRecord(value) ? [undefined, Object.fromEntries(Object.entries(value).slice(1))] : [undefined]
}

const ORDER: readonly Worst[] = ['none', 'info', 'dangerous', 'breaking']

/** The worst level of the changes of each member, forth and back, as far as it tells that the member is compared. */
function levelsOf(
  type: ArtifactType,
  document: unknown,
  occurrences: readonly Occurrence[],
): ReadonlyMap<string, Worst> {
  const levels = new Map<string, Worst>()
  for (const { member, path, value } of occurrences) {
    for (const other of otherValues(value)) {
      const known = levels.get(member) ?? 'none'
      levels.set(member, known)
      if (known === 'dangerous' || known === 'breaking') break
      const changed = withValueAt(document, path, other)
      const found = [levelOf(type, document, changed), levelOf(type, changed, document)]
      levels.set(member, [known, ...found].reduce(worse))
    }
  }
  return levels
}

/** A document that is refused is not taken in silence. */
function levelOf(type: ArtifactType, before: unknown, after: unknown): Worst {
  const found = foundBetween(type, before, after)
  if (found === null) return 'breaking'
  return ORDER.findLast((level) => found.some((one) => one.startsWith(level))) ?? 'none'
}

function worse(one: Worst, other: Worst): Worst {
  return ORDER.indexOf(one) < ORDER.indexOf(other) ? other : one
}

export function checkMembers(name: string, { type, grammar: text, document, silent, harmless }: FormatMembers): void {
  const grammar = readGrammar(text)
  const [root = ''] = Object.keys(grammar)
  const occurrences = [...occurrencesIn(document, root, grammar)]

  test(`${name}: the document has every member of the grammar`, () => {
    const held = new Set(occurrences.map(({ member }) => member))
    const all = Object.entries(grammar).flatMap(([kind, members]) =>
      Object.keys(members).map((member) => `${kind}.${member}`),
    )
    assert.deepEqual(
      all.filter((member) => !held.has(member)),
      [],
    )
  })

  test(`${name}: a member whose change is no finding, or information, has a reason`, () => {
    const levels = levelsOf(type, document, occurrences)
    const of = (wanted: Worst): readonly string[] =>
      [...levels].flatMap(([member, level]) => (level === wanted ? [member] : [])).toSorted()
    assert.deepEqual(of('none'), Object.keys(silent).toSorted())
    assert.deepEqual(of('info'), Object.keys(harmless).toSorted())
  })
}
