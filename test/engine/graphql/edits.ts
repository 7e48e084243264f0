/** Every single edit of a GraphQL schema that its grammar allows: each list loses, repeats and gains members, each leaf changes. */
import { Kind, parse, print, visit, type ASTNode, type DocumentNode } from 'graphql'

export interface Edit {
  /** What was edited, for messages. */
  readonly what: string
  readonly text: string
}

type Path = readonly (string | number)[]

/** A copy of the value in which one place has another value. */
function replaced(value: unknown, [step, ...rest]: Path, member: unknown): unknown {
  if (step === undefined) return member
  if (Array.isArray(value)) return value.map((item: unknown, at) => (at === step ? replaced(item, rest, member) : item))
  if (typeof value !== 'object' || value === null) return value
  const known: unknown = Object.entries(value).find(([name]) => name === step)?.[1]
  return { ...value, [step]: replaced(known, rest, member) }
}

const KINDS_OF_TYPES = [
  Kind.OBJECT_TYPE_DEFINITION,
  Kind.INTERFACE_TYPE_DEFINITION,
  Kind.INPUT_OBJECT_TYPE_DEFINITION,
  Kind.SCALAR_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
  Kind.UNION_TYPE_DEFINITION,
]

const LEAVES = ['1', '2', '"x"', 'null', 'true', '[]', '[1]', '{}', 'CALM', '{ p: 1 }', '1.5']

/** Every edit of one node in place of itself. */
function* changesOf(node: ASTNode, names: readonly string[]): Generator {
  if (node.kind === Kind.NAMED_TYPE) {
    for (const name of names) if (name !== node.name.value) yield { ...node, name: { ...node.name, value: name } }
  }
  if (node.kind === Kind.NAMED_TYPE || node.kind === Kind.LIST_TYPE) {
    yield { kind: Kind.LIST_TYPE, type: node }
    yield { kind: Kind.NON_NULL_TYPE, type: node }
  }
  if (node.kind === Kind.LIST_TYPE || node.kind === Kind.NON_NULL_TYPE) yield node.type
  if (node.kind === Kind.NAME) yield { ...node, value: `${node.value}New` }
  if (node.kind === Kind.DIRECTIVE_DEFINITION) yield { ...node, repeatable: !node.repeatable }
  if ('description' in node) {
    yield { ...node, description: undefined }
    yield { ...node, description: { kind: Kind.STRING, value: 'other words' } }
  }
  if (node.kind === Kind.INPUT_VALUE_DEFINITION) {
    for (const leaf of LEAVES) yield { ...node, defaultValue: { kind: Kind.ENUM, value: leaf } }
    yield { ...node, defaultValue: undefined }
  }
  if (node.kind.endsWith('TypeDefinition')) {
    for (const kind of KINDS_OF_TYPES) if (kind !== node.kind) yield { ...node, kind }
  }
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'kind' in value
}

function nodesOf(list: readonly unknown[]): readonly ASTNode[] {
  return list.filter(isNode)
}

/** All documents that differ from this one in one place. Many are no valid schema. */
export function* everyEdit(text: string): Generator<Edit> {
  const document: DocumentNode = parse(text, { noLocation: true })
  const names = document.definitions.flatMap((one) =>
    'name' in one && one.name !== undefined && one.kind.endsWith('TypeDefinition') ? [one.name.value] : [],
  )
  const all = [...names, 'Int', 'Float', 'String', 'Boolean', 'ID']
  const places: { readonly node: ASTNode; readonly path: Path }[] = []
  /** Members of each list by its name: what other lists of that name could contain. */
  const members = new Map<string, Map<string, ASTNode>>()
  visit(document, {
    enter: (node, _key, _parent, path) => {
      places.push({ node, path: [...path] })
      for (const [name, value] of Object.entries(node)) {
        if (!Array.isArray(value)) continue
        const known = members.get(name) ?? new Map<string, ASTNode>()
        members.set(name, known)
        for (const item of nodesOf(value)) known.set(`${item.kind} ${print(item)}`, item)
      }
    },
  })
  const edit = (what: string, path: Path, member: unknown): Edit => {
    const changed = replaced(document, path, member)
    if (!isNode(changed)) throw new Error('an edit leaves a document')
    return { what: `${what} at ${path.join('/')}`, text: print(changed) }
  }
  for (const { node, path } of places) {
    for (const changed of changesOf(node, all)) yield edit('changed', path, changed)
    for (const [name, value] of Object.entries(node)) {
      if (!Array.isArray(value)) continue
      const list = nodesOf(value)
      for (const index of list.keys()) yield edit('removed', [...path, name], list.toSpliced(index, 1))
      const own = new Set(list.map((item) => print(item)))
      for (const other of members.get(name)?.values() ?? []) {
        if (!own.has(print(other))) yield edit('added', [...path, name], [...list, other])
      }
    }
  }
}
