/** Reads the text of a GraphQL request within limits, and finds the requested operation in it. */
import { GraphQLError } from 'graphql/error'
import {
  BREAK,
  parse,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql/language'
import { fail, ok, type Result } from '../../common/result.ts'
import { positionAt } from '../positions.ts'
import { overLimit, unreadable } from '../unreadable.ts'
import { tooDeepAt } from './nesting.ts'

interface OperationLimits {
  readonly maxTokens: number
  readonly maxDepth: number
}

/**
 * They ended lines, and so comments, in the first edition of GraphQL and still do in some readers. In the current
 * edition they do not.
 */
const LINE_SEPARATORS = /[\u0085\u2028\u2029]/

/** A document of operations and fragments, with one meaning. It may not contain schema definitions. */
export function readOperationDocument(text: string, { maxTokens, maxDepth }: OperationLimits): Result<DocumentNode> {
  if (LINE_SEPARATORS.test(text)) return fail(unreadable('it holds a separator that ends a line to some readers only'))
  const tooDeep = tooDeepAt(text, maxDepth)
  if (tooDeep !== null) return fail(overLimit(`nesting is deeper than ${maxDepth} levels`, positionAt(text, tooDeep)))
  try {
    const document = parse(text, { maxTokens, noLocation: true })
    const strange = document.definitions.find(
      ({ kind }) => kind !== 'OperationDefinition' && kind !== 'FragmentDefinition',
    )
    if (strange !== undefined) return fail(unreadable('it defines parts of a schema, which no request can'))
    const twice = fragmentTwice(document)
    return twice === null ? ok(document) : fail(unreadable(`it holds the fragment ${twice} twice`))
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const position = error.locations?.[0] ?? null
    if (error.message.includes('Document contains more than')) {
      return fail(overLimit(`it has more than ${maxTokens} tokens`, position))
    }
    const what = error.message.replace(/^Syntax Error: /, '').replace(/\.$/, '')
    return fail(unreadable(`it is not valid GraphQL: ${what}`, { position }))
  }
}

/** Servers differ in which of two fragments with one name they use. */
function fragmentTwice({ definitions }: DocumentNode): string | null {
  const seen = new Set<string>()
  for (const one of definitions) {
    if (one.kind !== 'FragmentDefinition') continue
    if (seen.has(one.name.value)) return one.name.value
    seen.add(one.name.value)
  }
  return null
}

/** Fields of every object, and of the query root (GraphQL §4). They return the schema itself. */
export function isMetaField(name: string, isRoot: boolean): boolean {
  return name === '__typename' || (isRoot && (name === '__schema' || name === '__type'))
}

/** Directives of the language for operations (GraphQL §3.13). Only the server knows the effect of other directives. */
const OWN_DIRECTIVES: ReadonlySet<string> = new Set(['skip', 'include'])

/** Whether the operation, or a fragment of its document, has a directive that the language does not define. */
function hasForeignDirective(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  let isFound = false
  const look = {
    Directive({ name }: DirectiveNode) {
      if (OWN_DIRECTIVES.has(name.value)) return undefined
      isFound = true
      return BREAK
    },
  }
  visit(operation, look)
  for (const one of document.definitions) if (one.kind === 'FragmentDefinition') visit(one, look)
  return isFound
}

/** Whether the operation requests only the schema itself, directly or by fragments. */
export function asksForSchemaOnly(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (hasForeignDirective(document, operation)) return false
  const fragments = new Map(
    document.definitions.flatMap((one) =>
      one.kind === 'FragmentDefinition' ? [[one.name.value, one.selectionSet] as const] : [],
    ),
  )
  const open = new Set<SelectionSetNode>([operation.selectionSet])
  // Iteration over a set includes items added on the way.
  for (const { selections } of open) {
    for (const selection of selections) {
      if (selection.kind === 'Field') {
        if (!isMetaField(selection.name.value, true)) return false
        continue
      }
      const inner = selection.kind === 'InlineFragment' ? selection.selectionSet : fragments.get(selection.name.value)
      if (inner === undefined) return false
      open.add(inner)
    }
  }
  return true
}

/** @param name `operationName` of the request, or null if absent (GraphQL §6.1, GetOperation) */
export function operationIn({ definitions }: DocumentNode, name: string | null): Result<OperationDefinitionNode> {
  const operations = definitions.filter((one) => one.kind === 'OperationDefinition')
  const [only, ...others] = name === null ? operations : operations.filter((one) => one.name?.value === name)
  if (only !== undefined && others.length === 0) return ok(only)
  if (name !== null)
    return fail(unreadable(`it holds ${only === undefined ? 'no' : 'more than one'} operation "${name}"`))
  const what =
    only === undefined ? 'it holds no operation' : 'it holds several operations, and none is asked for by name'
  return fail(unreadable(what))
}
