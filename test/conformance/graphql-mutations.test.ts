/** Single changes of a GraphQL schema, compared with two reference programs. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  buildSchema,
  introspectionFromSchema,
  validateSchema,
  Kind,
  parse,
  parseConstValue,
  parseType,
  print,
  type ASTNode,
  type DocumentNode,
} from 'graphql'
import { compared } from '../engine/graphql/compared.ts'
import {
  askReferences,
  differenceOf,
  isCovered,
  readExpectedDifferences,
  runGraphql,
  type GraphqlCase,
} from './graphql-run.ts'

interface SchemaMutation {
  /** Which change at which place, e.g. `Query.user/arguments 0: dropped`. */
  readonly name: string
  /** Printed when it is asked for: a large schema has hundreds of thousands. */
  readonly text: () => string
}

/** A node as plain members: mutations build documents that no type would allow to be wrong, and print them. */
interface Node {
  readonly kind: string
  readonly [member: string]: unknown
}

type Change = readonly [name: string, node: Node | null, beside?: Node]

/** Every text that one change makes of a schema. */
function mutationsOf(sdl: string): readonly SchemaMutation[] {
  const document = asNode(parse(sdl, { noLocation: true }))
  const places = [...placesOf(document, [])]
  return places.flatMap(({ path, node }) =>
    changesOf(node).map(([name, changed, beside]) => ({
      name: `${path.join('/')}: ${name}`,
      text: () => print(asDocument(replaced(document, path, changed, beside))),
    })),
  )
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string'
}

function asNode(node: ASTNode): Node {
  const copy: unknown = JSON.parse(JSON.stringify(node))
  if (!isNode(copy)) throw new Error('a document is a node')
  return copy
}

function isDocument(value: unknown): value is DocumentNode {
  return isNode(value) && value.kind === Kind.DOCUMENT
}

function asDocument(node: Node | null): DocumentNode {
  if (!isDocument(node)) throw new Error('a document stays one')
  return node
}

type Path = readonly (string | number)[]

/** Every node that stands in a list, and every type. */
function* placesOf(node: Node, path: Path): Generator<{ readonly path: Path; readonly node: Node }> {
  for (const [member, value] of Object.entries(node)) {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        if (!isNode(item)) continue
        yield { path: [...path, member, index], node: item }
        yield* placesOf(item, [...path, member, index])
      }
    } else if (isNode(value) && (member === 'type' || member === 'defaultValue' || member === 'value')) {
      yield { path: [...path, member], node: value }
      yield* placesOf(value, [...path, member])
    }
  }
}

function replaced(node: Node, [step, ...rest]: Path, by: Node | null, beside: Node | undefined): Node {
  if (step === undefined) return by ?? node
  const below = node[step]
  if (Array.isArray(below)) {
    const [index, ...deeper] = rest
    const items: readonly unknown[] = below
    const list = items.flatMap((item, at) => {
      if (at !== index || !isNode(item)) return [item]
      if (deeper.length > 0) return [replaced(item, deeper, by, beside)]
      return [by, beside].filter((part) => part !== null && part !== undefined)
    })
    return { ...node, [step]: list }
  }
  return isNode(below) ? { ...node, [step]: replaced(below, rest, by, beside) } : node
}

const named = (value: string): Node => ({ kind: Kind.NAME, value })

const DESCRIBABLE = /Definition$/
const TYPE_CHANGES = ['String', 'Int', 'Person', 'Filter', 'Colour']

const TYPE_KINDS: ReadonlySet<string> = new Set([Kind.NAMED_TYPE, Kind.LIST_TYPE, Kind.NON_NULL_TYPE])

function changesOf(node: Node): readonly Change[] {
  if (TYPE_KINDS.has(node.kind)) return typeChanges(node)
  return [
    ['dropped', null],
    ...nameChanges(node),
    ...descriptionChanges(node),
    ...directiveChanges(node),
    ...memberChanges(node),
    ...(KIND_CHANGES[node.kind] ?? []).map((kind): Change => [`became ${kind}`, { ...node, kind }]),
  ]
}

function typeChanges(node: Node): readonly Change[] {
  const text = typeText(node)
  const others = TYPE_CHANGES.filter((name) => name !== text)
  return [...others, `[${text}]`, `${text}!`, text.replaceAll('!', ''), text.replaceAll(/[[\]]/g, '')]
    .filter((other) => other !== text && !/!!/.test(other))
    .map((other): Change => [`typed ${other}`, asNode(parseType(other, { noLocation: true }))])
}

/** A type as SDL writes it. */
function typeText({ kind, type, name }: Node): string {
  if (isNode(type)) return kind === Kind.LIST_TYPE ? `[${typeText(type)}]` : `${typeText(type)}!`
  return isNode(name) ? String(name['value']) : ''
}

function nameChanges(node: Node): readonly Change[] {
  const name = isNode(node['name']) ? node['name']['value'] : node.kind === Kind.NAME ? node['value'] : null
  if (typeof name !== 'string') return []
  const other = named(name === name.toUpperCase() ? 'NEWER' : 'newer')
  const renamed = node.kind === Kind.NAME ? other : { ...node, name: other }
  return [
    ['renamed', renamed],
    ['twice', node, renamed],
  ]
}

function descriptionChanges(node: Node): readonly Change[] {
  if (!DESCRIBABLE.test(node.kind)) return []
  const described = (value: string): Node => ({ ...node, description: { kind: Kind.STRING, value } })
  return isNode(node['description'])
    ? [
        ['described otherwise', described('Other words.')],
        ['described no more', { ...node, description: undefined }],
      ]
    : [['described', described('Words.')]]
}

const APPLIED = ['@deprecated', '@deprecated(reason: "Old.")', '@seen', '@key(fields: "id")', '@inaccessible']

function directiveChanges(node: Node): readonly Change[] {
  const given: unknown = node['directives']
  if (!Array.isArray(given)) return []
  const list: readonly unknown[] = given
  return APPLIED.map((text): Change => {
    const [definition] = parse(`scalar X ${text}`, { noLocation: true }).definitions
    const added = definition === undefined ? [] : listOf(asNode(definition)['directives'])
    return [`with ${text}`, { ...node, directives: [...list, ...added] }]
  })
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

const DEFAULTS = ['1', '"x"', 'RED', '[RED]', '{ at: 1 }', 'null']

function memberChanges(node: Node): readonly Change[] {
  if (node.kind === Kind.INPUT_VALUE_DEFINITION) {
    const given = (text: string): Node => ({
      ...node,
      defaultValue: asNode(parseConstValue(text, { noLocation: true })),
    })
    return [
      ['without a default', { ...node, defaultValue: undefined }],
      ...DEFAULTS.map((text): Change => [`defaults to ${text}`, given(text)]),
    ]
  }
  if (node.kind === Kind.FIELD_DEFINITION) {
    const given = (type: string): Node => {
      const [definition] = parse(`type X { f(newer: ${type}): Int }`, { noLocation: true }).definitions
      const [field] = definition === undefined ? [] : listOf(asNode(definition)['fields'])
      const added = isNode(field) ? listOf(field['arguments']) : []
      return { ...node, arguments: [...listOf(node['arguments']), ...added] }
    }
    return ['Int', 'Int!', 'Int! = 3'].map((type): Change => [`takes ${type}`, given(type)])
  }
  if (node.kind === Kind.DIRECTIVE_DEFINITION)
    return [['repeatable or not', { ...node, repeatable: node['repeatable'] !== true }]]
  return []
}

const KIND_CHANGES: Readonly<Record<string, readonly string[]>> = {
  [Kind.OBJECT_TYPE_DEFINITION]: [Kind.INTERFACE_TYPE_DEFINITION],
  [Kind.INTERFACE_TYPE_DEFINITION]: [Kind.OBJECT_TYPE_DEFINITION],
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: [Kind.OBJECT_TYPE_DEFINITION],
  [Kind.ENUM_TYPE_DEFINITION]: [Kind.SCALAR_TYPE_DEFINITION],
}

const SCHEMA = readFileSync(new URL('graphql-mutations.graphql', import.meta.url), 'utf8')

function isValid(text: string): boolean {
  try {
    return validateSchema(buildSchema(text)).length === 0
  } catch {
    // What no server would start with is no schema to compare.
    return false
  }
}

/** Every valid change of the schema, there and back, with what the references say of it. */
async function readCases(): Promise<readonly GraphqlCase[]> {
  const cases: GraphqlCase[] = []
  for (const { name, text } of mutationsOf(SCHEMA)) {
    const changed = text()
    if (!isValid(changed)) continue
    for (const [id, before, after] of [
      [name, SCHEMA, changed],
      [`${name}, back`, changed, SCHEMA],
    ] as const) {
      const entries = await askReferences(before, after)
      assert.ok(entries !== null, id)
      cases.push({ id, before, after, entries })
    }
  }
  return cases
}

/** The same default is another value under another type, or none. The change of the type is reported. */
const COERCED = /_DEFAULT(?:_VALUE)?_CHANGED$/
const TYPE_RULES =
  /-(?:type-(?:changed|narrowed|widened)|became-(?:required|optional))$|-input-field-(?:added|removed)$/

test('every single change of a schema is reported as by both references, and not at a stricter level', async () => {
  const cases = await readCases()
  const expected = readExpectedDifferences()
  const { outcomes, beyond } = runGraphql(cases)
  const isCoerced = (id: string): boolean => {
    const found = cases.find((one) => one.id === id)
    return found !== undefined && compared(found.before, found.after).groups.some(({ rule }) => TYPE_RULES.test(rule))
  }
  const open = outcomes
    .filter((outcome) => !isCovered(outcome) && !expected.weaker.has(differenceOf(outcome)))
    .filter(({ id, entry }) => !(COERCED.test(entry.kind) && isCoerced(id)))
    .map((outcome) => `${outcome.id}: ${differenceOf(outcome)}: ${outcome.entry.message}`)
  const graver = beyond
    .filter(({ group }) => !expected.beyond.has(group.rule))
    .map(({ id, group }) => `${id}: ${group.level} ${group.rule}`)
  assert.deepEqual([...open, ...graver], [])
  assert.ok(cases.length > 1000 && outcomes.length > 1000)
})

/** Introspection tells nothing of the directives that a schema applies. */
const OF_USAGES = /^graphql-(?:directive-usage|federation)-/

function reportedWithoutUsages(before: string, after: string): readonly string[] {
  const { groups } = compared(before, after)
  return groups.filter(({ rule }) => !OF_USAGES.test(rule)).map(({ level, rule }) => `${level} ${rule}`)
}

function introspected(text: string): string {
  const options = { oneOf: true, inputValueDeprecation: true, specifiedByUrl: true, directiveIsRepeatable: true }
  return JSON.stringify(introspectionFromSchema(buildSchema(text), { ...options, schemaDescription: true }))
}

test('every single change gives the same findings from introspection results, except for applied directives', () => {
  const before = introspected(SCHEMA)
  const changes = mutationsOf(SCHEMA)
    .map(({ name, text }) => ({ name, text: text() }))
    .filter(({ text }) => isValid(text))
  for (const { name, text } of changes) {
    const [written, answered] = [reportedWithoutUsages(SCHEMA, text), reportedWithoutUsages(before, introspected(text))]
    assert.deepEqual(answered.toSorted(), written.toSorted(), name)
  }
  assert.ok(changes.length > 500)
})
