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
      const [kind = '', ...members] = line.trim().split(/:? /)
      const named = members.map((member) => {
        const [name = '', form = ''] = member.split('=')
        return [name, form] as const
      })
      return [kind.replace(':', ''), Object.fromEntries(named)]
    }),
  )
}

/** The text without members, as an earlier version has it: `kind.member …`, or `kind` for all of one. */
export function without(grammar: string, later: string): string {
  const gone = new Set(later.trim().split(/\s+/))
  return grammar
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [kind = '', ...members] = line.split(/:? /)
      const kept = members.filter((member) => !gone.has(`${kind}.${member.replace(/=.*/, '')}`))
      return gone.has(kind) ? [] : [`${kind}: ${kept.join(' ')}`]
    })
    .join('\n')
}

/** A document without the members that the grammar does not have. */
export function pruned(document: unknown, text: string): unknown {
  const grammar = readGrammar(text)
  const [root = ''] = Object.keys(grammar)
  return prunedPart(document, root, grammar)
}

function prunedPart(value: unknown, form: string, grammar: Grammar): unknown {
  if (form.endsWith('[]') && Array.isArray(value))
    return value.map((item: unknown) => prunedPart(item, form.slice(0, -2), grammar))
  if (form === '' || form.endsWith('[]') || !isRecord(value)) return value
  const members = form.endsWith('{}') ? { '*': form.slice(0, -2) } : (grammar[form] ?? {})
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, held]) => {
      const holds = members[name] ?? members['*']
      if (holds === undefined) return NO_MEMBERS.has(name) || name.startsWith('x-') ? [[name, held]] : []
      return [[name, prunedPart(held, holds, grammar)]]
    }),
  )
}

/** A document whose components of kinds that its version does not have stand in place. */
export function withPartsInPlace(value: unknown, parts: ReadonlyMap<unknown, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withPartsInPlace(item, parts))
  if (!isRecord(value)) return value
  const part = parts.get(value['$ref'])
  if (part !== undefined) return withPartsInPlace(part, parts)
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, withPartsInPlace(held, parts)]))
}

/** The same text, from kinds with their members and what they hold. The form `?` is the kind that a node states. */
export function grammarText(kinds: ReadonlyMap<string, ReadonlyMap<string, string>>, root: string): string {
  const sorted = [...kinds].toSorted(([one], [other]) => Number(other === root) - Number(one === root))
  return sorted
    .map(
      ([kind, members]) =>
        `${kind}: ${[...members].map(([name, form]) => (form === '' ? name : `${name}=${form}`)).join(' ')}`,
    )
    .join('\n')
}

/** Why readers and callers do not need to know of a change. */
export type Reasons = Readonly<Record<string, string>>

/** Reasons of the members that a version has. */
export function reasonsFor(grammar: string, reasons: Reasons): Reasons {
  const isHeld = (member: string): boolean => {
    const [kind = '', name = ''] = member.split('.')
    return new RegExp(`^${kind}:.* ${name.replace('$', '\\$')}(?:[= ]|$)`, 'm').test(grammar)
  }
  return Object.fromEntries(Object.entries(reasons).filter(([member]) => isHeld(member)))
}

/** Names, texts and examples that no message shows. */
export function forPeople(members: string): Reasons {
  return Object.fromEntries(
    members
      .trim()
      .split(/\s+/)
      .map((member) => [member, 'It is for people.']),
  )
}

/** Members that Swagger, OpenAPI and AsyncAPI have. */
export const API_FOR_PEOPLE: Reasons = forPeople(`
  contact.email contact.name contact.url contract.info docs.description docs.url
  info.contact info.description info.license info.termsOfService info.title info.version license.name license.url
  operation.description operation.externalDocs operation.summary parameter.description scheme.description
  tag.description tag.externalDocs tag.name
`)

interface FormatMembers {
  readonly type: ArtifactType
  /** As `readGrammar` takes it. The first kind is that of the document. */
  readonly grammar: string
  readonly document: unknown
  /** `kind.member` → why its change is in no finding. */
  readonly silent: Reasons
  /** `kind.member` → why its change is information in both directions. */
  readonly harmless: Reasons
  /** The text of a document that is no JSON. Null: it is no document. */
  readonly textOf?: (document: unknown) => string | null
  /** Kinds of objects in whose place a reference may stand. None: the format has no references of its own. */
  readonly referable?: string
  /** Kinds of objects that have no extensions. None: the format has no extensions. */
  readonly closed?: string
}

type Path = readonly (string | number)[]

interface Occurrence {
  /** `kind.member` */
  readonly member: string
  readonly path: Path
  readonly value: unknown
}

/** A reference, and the kind of a node. */
const NO_MEMBERS: ReadonlySet<string> = new Set(['$ref', 'kind'])

/** All members that a value holds, by the grammar. Extensions and references are no members. */
function* occurrencesIn(value: unknown, form: string, grammar: Grammar, path: Path = []): Generator<Occurrence> {
  const kind = form === '?' && isRecord(value) ? String(value['kind']) : form
  const members = grammar[kind]
  if (!isRecord(value)) return
  assert.ok(members !== undefined, `no kind ${kind}`)
  for (const [name, held] of Object.entries(value)) {
    if (members[name] === undefined && (name.startsWith('x-') || NO_MEMBERS.has(name))) continue
    const isNamed = members[name] === undefined
    const holds = members[name] ?? members['*']
    assert.ok(holds !== undefined, `${kind} has no ${name}: /${path.join('/')}`)
    const at = [...path, name]
    yield { member: `${kind}.${isNamed ? '*' : name}`, path: at, value: held }
    yield* heldIn(held, holds, grammar, at)
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
  if (!isRecord(value)) return [undefined]
  const first = Object.keys(value).find((name) => name !== 'kind' && value[name] !== null)
  return [undefined, Object.fromEntries(Object.entries(value).filter(([name]) => name !== first))]
}

/** Where the objects of a document stand. */
type Writing = 'in place' | 'behind references' | 'in another file' | 'with extensions'

interface Written {
  readonly document: unknown
  readonly files: Readonly<Record<string, unknown>>
}

const PARTS = 'x-parts'
const [DOCUMENT_NAME, FILE_NAME] = ['contract.json', 'parts.json']

/** A document in another writing of the same meaning. The place of an object names it, so both sides use one name. */
class Rewriting {
  readonly #parts: Record<string, unknown> = {}
  readonly #grammar: Grammar
  readonly #kinds: ReadonlySet<string>
  readonly #writing: Writing

  constructor(grammar: Grammar, kinds: ReadonlySet<string>, writing: Writing) {
    this.#grammar = grammar
    this.#kinds = kinds
    this.#writing = writing
  }

  of(document: unknown): Written {
    const [root = ''] = Object.keys(this.#grammar)
    const written = this.#object(document, root, [])
    const isApart = this.#writing === 'in another file'
    if (isApart) return { document: written, files: { [FILE_NAME]: this.#parts } }
    const isWithin = this.#writing === 'behind references' && isRecord(written)
    return { document: isWithin ? { ...written, [PARTS]: this.#parts } : written, files: {} }
  }

  #object(value: unknown, kind: string, path: Path): unknown {
    if (!isRecord(value)) return value
    const members = this.#grammar[kind] ?? {}
    const isMoved = this.#writing !== 'with extensions' && this.#kinds.has(kind) && value['$ref'] === undefined
    const written = Object.fromEntries(
      Object.entries(value).map(([name, held]) => [
        name,
        this.#held(held, members[name] ?? members['*'] ?? '', [...path, name]),
      ]),
    )
    if (this.#writing === 'with extensions') return this.#kinds.has(kind) ? { ...written, 'x-a': { b: [1] } } : written
    if (!isMoved) return written
    const name = path.map((step) => encodeURIComponent(step).replaceAll('%', '_')).join('.')
    const isApart = this.#writing === 'in another file'
    this.#parts[name] = isApart ? withWholeReferences(written) : written
    return { $ref: isApart ? `${FILE_NAME}#/${name}` : `#/${PARTS}/${name}` }
  }

  #held(value: unknown, form: string, path: Path): unknown {
    if (form.endsWith('[]') && Array.isArray(value))
      return value.map((item: unknown, at) => this.#object(item, form.slice(0, -2), [...path, at]))
    if (form.endsWith('{}') && isRecord(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, this.#object(item, form.slice(0, -2), [...path, name])]),
      )
    return form === '' || /[\]}]$/.test(form) ? value : this.#object(value, form, path)
  }
}

/** References into the document, as another file writes them. */
function withWholeReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withWholeReferences)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      name,
      name === '$ref' && typeof held === 'string' && held.startsWith('#')
        ? `${DOCUMENT_NAME}${held}`
        : withWholeReferences(held),
    ]),
  )
}

/** The worst level of the changes of each member, forth and back, as far as it tells that the member is compared. */
function levelsOf(
  type: ArtifactType,
  document: unknown,
  occurrences: readonly Occurrence[],
  rewrite: (document: unknown) => Written | null,
): ReadonlyMap<string, Outcome> {
  const levels = new Map<string, Outcome>()
  const before = rewrite(document)
  assert.ok(before !== null)
  for (const { member, path, value } of occurrences) {
    for (const other of otherValues(value)) {
      const known = levels.get(member) ?? 'refused'
      levels.set(member, known)
      if (known === 'dangerous' || known === 'breaking') break
      const after = rewrite(withValueAt(document, path, other))
      if (after === null) continue
      const found = [levelOf(type, before, after), levelOf(type, after, before)]
      levels.set(member, [known, ...found].reduce(worse))
    }
  }
  return levels
}

/** A document that is refused is not taken in silence, and shows nothing of how its member is compared. */
type Outcome = Worst | 'refused'

const ORDER: readonly Outcome[] = ['refused', 'none', 'info', 'dangerous', 'breaking']

function levelOf(type: ArtifactType, before: Written, after: Written): Outcome {
  const names = Object.keys({ ...before.files, ...after.files })
  const files = Object.fromEntries(
    names.map((name) => [name, { before: before.files[name], after: after.files[name] }]),
  )
  const found = foundBetween(type, before.document, after.document, { path: DOCUMENT_NAME, files })
  if (found === null) return 'refused'
  return ORDER.findLast((level) => found.some((one) => one.startsWith(level))) ?? 'none'
}

function worse(one: Outcome, other: Outcome): Outcome {
  return ORDER.indexOf(one) < ORDER.indexOf(other) ? other : one
}

export function checkMembers(name: string, format: FormatMembers): void {
  const { type, grammar: text, document, silent, harmless } = format
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

  for (const [writing, kinds] of writingsOf(format, Object.keys(grammar))) {
    test(`${name}, ${writing}: a member whose change is no finding, or information, has a reason`, () => {
      const rewrite = rewriting(format, grammar, { writing, kinds })
      const levels = levelsOf(type, document, occurrences, rewrite)
      const of = (wanted: Outcome): readonly string[] =>
        [...levels].flatMap(([member, level]) => (level === wanted ? [member] : [])).toSorted()
      assert.deepEqual(of('none'), Object.keys(silent).toSorted())
      assert.deepEqual(of('info'), Object.keys(harmless).toSorted())
    })
  }
}

function rewriting(
  { textOf }: FormatMembers,
  grammar: Grammar,
  { writing, kinds }: { readonly writing: Writing; readonly kinds: ReadonlySet<string> },
): (document: unknown) => Written | null {
  return (document) => {
    const written = new Rewriting(grammar, kinds, writing).of(document)
    const text = textOf === undefined ? written.document : textOf(written.document)
    return text === null ? null : { ...written, document: text }
  }
}

/** The writings that a format has, and the kinds of objects that they concern. */
function writingsOf(
  { referable, closed }: FormatMembers,
  kinds: readonly string[],
): readonly (readonly [Writing, ReadonlySet<string>])[] {
  const [moved, without] = [referable, closed].map((text = '') => new Set(text.split(' ')))
  const extended = new Set(kinds.filter((kind) => without?.has(kind) === false))
  return [
    ['in place', new Set()],
    ...(referable === undefined || moved === undefined
      ? []
      : ([
          ['behind references', moved],
          ['in another file', moved],
        ] as const)),
    ...(closed === undefined ? [] : ([['with extensions', extended]] as const)),
  ]
}
