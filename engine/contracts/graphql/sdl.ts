/**
 * Reads SDL text into a schema, with the parser of the reference implementation. Extensions are merged into their
 * types, and a type that a subgraph only extends is read as a definition. Unknown types and directives are accepted,
 * because clients depend on what changes.
 */
import { GraphQLError } from 'graphql/error'
import {
  parse,
  type DefinitionNode,
  type DirectiveDefinitionNode,
  type DirectiveExtensionNode,
  type DocumentNode,
  type SchemaDefinitionNode,
  type SchemaExtensionNode,
} from 'graphql/language'
import { fail, ok, type Result } from '../../common/result.ts'
import type { DocumentLimits } from '../../model/limits.ts'
import { positionAt, positions } from '../positions.ts'
import { overLimit, unreadable, tooLargeToParse } from '../unreadable.ts'
import { Faults } from './faults.ts'
import { tooDeepAt } from './nesting.ts'
import {
  isReserved,
  NOTHING_UNASKED,
  ROOT_KINDS,
  STANDARD_DIRECTIVES,
  STANDARD_SCALARS,
  type DirectiveDefinition,
  type Element,
  type GraphqlSchema,
  type NamedType,
  type NamedReference,
  type RootKind,
  type TypeKind,
} from './schema.ts'
import { SdlElements, startOffset, type TypePart } from './sdl-elements.ts'
import { readApplied, readImports } from './usages.ts'

/**
 * Maximum tokens of one text: each takes some hundred bytes during reading. Real schemas have at most one in 12
 * characters.
 */
const MAX_TOKENS = 3_000_000
/** Of a token and what is read of it, measured with the smallest ones and rounded up. */
const TOKEN_BYTES = 300

/** Reads SDL text. The problem names the fault with its line and column. */
export function readSdl(text: string, limits: DocumentLimits): Result<GraphqlSchema> {
  if (!text.isWellFormed()) {
    return fail(unreadable('a text holds half of a surrogate pair', { fix: 'Write the whole character.' }))
  }
  const tooDeep = tooDeepAt(text, limits.maxDepth)
  if (tooDeep !== null) {
    return fail(overLimit(`nesting is deeper than ${limits.maxDepth} levels`, positionAt(text, tooDeep)))
  }
  const document = parseSdl(text, limits)
  return document.ok ? new SdlReader(text, document.value).read() : document
}

function parseSdl(text: string, { maxParsedBytes = Number.POSITIVE_INFINITY }: DocumentLimits): Result<DocumentNode> {
  const held = Math.floor(maxParsedBytes / TOKEN_BYTES)
  try {
    return ok(parse(text, { maxLexicalTokens: Math.min(MAX_TOKENS, held) }))
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const position = error.locations?.[0] ?? null
    if (error.message.includes('Document contains more than')) {
      return fail(held < MAX_TOKENS ? tooLargeToParse() : overLimit(`it has more than ${MAX_TOKENS} tokens`, position))
    }
    const what = error.message.replace(/^Syntax Error: /, '').replace(/\.$/, '')
    return fail(unreadable(`it is not valid GraphQL SDL: ${what}`, { position }))
  }
}

type SchemaSyntax = SchemaDefinitionNode | SchemaExtensionNode

const KINDS: Readonly<Record<TypePart['kind'], TypeKind>> = {
  ScalarTypeDefinition: 'scalar',
  ScalarTypeExtension: 'scalar',
  ObjectTypeDefinition: 'object',
  ObjectTypeExtension: 'object',
  InterfaceTypeDefinition: 'interface',
  InterfaceTypeExtension: 'interface',
  UnionTypeDefinition: 'union',
  UnionTypeExtension: 'union',
  EnumTypeDefinition: 'enum',
  EnumTypeExtension: 'enum',
  InputObjectTypeDefinition: 'input',
  InputObjectTypeExtension: 'input',
}

/** A type whose definition and extensions are being collected. */
interface OpenType {
  readonly kind: TypeKind
  isDefined: boolean
  readonly parts: TypePart[]
}

interface OpenDirective {
  definition: DirectiveDefinitionNode | null
  readonly extensions: DirectiveExtensionNode[]
}

class SdlReader {
  readonly #faults: Faults
  readonly #document: DocumentNode
  readonly #positionOf: GraphqlSchema['positionOf']
  readonly #types = new Map<string, OpenType>()
  readonly #directives = new Map<string, OpenDirective>()
  readonly #schemas: SchemaSyntax[] = []

  constructor(text: string, document: DocumentNode) {
    const place = positions(text)
    this.#positionOf = (mark) => (typeof mark === 'number' ? place(mark) : null)
    this.#faults = new Faults(this.#positionOf)
    this.#document = document
  }

  read(): Result<GraphqlSchema> {
    for (const definition of this.#document.definitions) this.#gather(definition)
    const imports = readImports(this.#schemas.flatMap(({ directives }) => directives ?? []))
    const elements = new SdlElements(imports, this.#faults)
    const types = new Map<string, NamedType>()
    for (const [name, { kind, parts }] of this.#types) types.set(name, elements.type(name, kind, parts))
    const directives = new Map<string, DirectiveDefinition>()
    for (const [name, { definition, extensions }] of this.#directives) {
      if (definition !== null) directives.set(name, elements.directive(definition, extensions))
    }
    const definition = this.#schemas.find((node) => node.kind === 'SchemaDefinition')
    const schema: Element = {
      name: 'schema',
      mark: startOffset(definition ?? this.#schemas[0] ?? {}),
      description: definition?.description?.value ?? null,
      usages: this.#schemas.flatMap((part) => readApplied(part.directives, imports).usages),
    }
    const roots = this.#roots(types)
    const fault = this.#faults.first
    if (fault !== null) return fail(fault)
    return ok({
      schema,
      roots,
      types,
      directives,
      hasUsages: true,
      unasked: NOTHING_UNASKED,
      positionOf: this.#positionOf,
    })
  }

  #gather(node: DefinitionNode): void {
    if (node.kind === 'OperationDefinition' || node.kind === 'FragmentDefinition') {
      const fix = 'Give the schema (SDL, or the JSON of an introspection query).'
      this.#faults.report(
        'it holds an operation or a fragment, where a schema holds definitions',
        startOffset(node),
        fix,
      )
    } else if (node.kind === 'SchemaDefinition' || node.kind === 'SchemaExtension') this.#gatherSchema(node)
    else if (node.kind === 'DirectiveDefinition' || node.kind === 'DirectiveExtension') this.#gatherDirective(node)
    else this.#gatherType(node)
  }

  #gatherSchema(node: SchemaSyntax): void {
    const first = this.#schemas.find(({ kind }) => kind === 'SchemaDefinition')
    if (node.kind === 'SchemaDefinition' && first !== undefined) {
      this.#faults.reportDuplicate('the schema', startOffset(node), startOffset(first))
    }
    this.#schemas.push(node)
  }

  #gatherDirective(node: DirectiveDefinitionNode | DirectiveExtensionNode): void {
    const name = node.name.value
    if (STANDARD_DIRECTIVES.has(name)) return
    const open = this.#directives.get(name) ?? { definition: null, extensions: [] }
    this.#directives.set(name, open)
    if (node.kind === 'DirectiveExtension') open.extensions.push(node)
    else if (open.definition !== null) {
      this.#faults.reportDuplicate(`the directive @${name}`, startOffset(node.name), startOffset(open.definition.name))
    } else open.definition = node
  }

  #gatherType(node: TypePart): void {
    const name = node.name.value
    if (isReserved(name) || STANDARD_SCALARS.has(name)) return
    const kind = KINDS[node.kind]
    const isDefinition = node.kind.endsWith('Definition')
    const open = this.#types.get(name)
    if (open === undefined) {
      this.#types.set(name, { kind, isDefined: isDefinition, parts: [node] })
      return
    }
    if (open.kind !== kind) {
      this.#faults.report(`the type ${name} is both ${open.kind} and ${kind}`, startOffset(node.name))
    }
    const [first = node] = open.parts
    if (isDefinition && open.isDefined) {
      this.#faults.reportDuplicate(`the type ${name}`, startOffset(node.name), startOffset(first.name))
    }
    // The definition comes first: its place is the place of the type.
    if (isDefinition) open.parts.unshift(node)
    else open.parts.push(node)
    open.isDefined ||= isDefinition
  }

  /** Without a schema definition the types named Query, Mutation and Subscription are the roots (GraphQL §3.3.1). */
  #roots(types: ReadonlyMap<string, NamedType>): ReadonlyMap<RootKind, NamedReference> {
    const roots = new Map<RootKind, NamedReference>()
    for (const { operationTypes = [] } of this.#schemas) {
      for (const { operation, type } of operationTypes) {
        const first = roots.get(operation)
        if (first !== undefined) {
          this.#faults.reportDuplicate(`the root of ${operation} operations`, startOffset(type), first.mark)
        }
        roots.set(operation, { name: type.name.value, mark: startOffset(type) })
      }
    }
    if (this.#schemas.some(({ kind }) => kind === 'SchemaDefinition')) return roots
    for (const kind of ROOT_KINDS) {
      const type = types.get(`${kind.charAt(0).toUpperCase()}${kind.slice(1)}`)
      if (type?.kind === 'object' && !roots.has(kind)) roots.set(kind, { name: type.name, mark: type.mark })
    }
    return roots
  }
}
