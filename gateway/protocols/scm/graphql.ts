/**
 * Which mutations a request to a platform's GraphQL API calls, and with which input: one operation with one reading, or
 * a refusal.
 */
import { isUtf8 } from 'node:buffer'
import type { ASTNode, DocumentNode, FieldNode, OperationDefinitionNode, SelectionSetNode } from 'graphql/language'
import type { Call } from '../../calls/call.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import { UnreadableIntent } from './intent.ts'
import { requiredText, textOfParameter, type Parameters } from './request.ts'
import { isJsonObject } from '../../json/strict-json.ts'

/** A field of a mutation, by the name that the schema gives it, whatever the request calls it. */
export interface Called {
  readonly name: string
  readonly input: Parameters
}

/**
 * Empty for a query. The parser is loaded with the first mutation: most gateways never see one.
 * @throws UnreadableIntent where the document does not parse, or leaves open what is meant
 */
export async function mutationsOf(parameters: Parameters): Promise<readonly Called[]> {
  const source = requiredText(parameters, 'query')
  const { parse } = await import('graphql/language')
  const document = parsed(() => parse(source, { maxTokens: 50_000, noLocation: true }))
  const operation = chosen(document, textOfParameter(parameters, 'operationName'))
  if (operation.operation !== 'mutation') return []
  const variables = parameters['variables'] ?? {}
  if (!isJsonObject(variables)) throw new UnreadableIntent('The variables are no JSON object.')
  const { valueFromASTUntyped } = await import('graphql/utilities')
  const defaults = Object.fromEntries(
    (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  )
  return rootFields(document, operation.selectionSet).map((field) => {
    assertSingle(field.arguments ?? [])
    const argument = field.arguments?.find(({ name }) => name.value === 'input')
    const input = argument === undefined ? {} : valueFromASTUntyped(argument.value, { ...defaults, ...variables })
    return { name: field.name.value, input: recordIn(input) }
  })
}

function parsed(parse: () => DocumentNode): DocumentNode {
  try {
    return parse()
  } catch (error) {
    throw new UnreadableIntent(`the GraphQL document cannot be read: ${error instanceof Error ? error.message : ''}`)
  }
}

function chosen({ definitions }: DocumentNode, name: string | null): OperationDefinitionNode {
  const operations = definitions.filter((one) => one.kind === 'OperationDefinition')
  const meant = name === null ? operations : operations.filter((one) => one.name?.value === name)
  const [only, ...others] = meant
  if (only === undefined || others.length > 0)
    throw new UnreadableIntent('the GraphQL document has not exactly one operation that could be meant.')
  return only
}

/** Fields of the operation itself, those of fragments included; what a directive would skip counts as asked. */
function rootFields(
  document: DocumentNode,
  { selections }: SelectionSetNode,
  seen = new Set<string>(),
): readonly FieldNode[] {
  return selections.flatMap((selection): readonly FieldNode[] => {
    if (selection.kind === 'Field') return [selection]
    if (selection.kind === 'InlineFragment') return rootFields(document, selection.selectionSet, seen)
    const { value } = selection.name
    if (seen.has(value)) return []
    seen.add(value)
    const fragment = document.definitions.find((one) => one.kind === 'FragmentDefinition' && one.name.value === value)
    if (fragment?.kind !== 'FragmentDefinition') throw new UnreadableIntent(`there is no fragment ${value}.`)
    return rootFields(document, fragment.selectionSet, seen)
  })
}

/** A member that is there twice is refused by servers that validate, and is two inputs to those that do not. */
function assertSingle(
  members: readonly { readonly name: { readonly value: string }; readonly value: ASTNode }[],
): void {
  const names = members.map(({ name }) => name.value)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new UnreadableIntent(`"${twice}" is stated twice in the GraphQL document.`)
  for (const { value } of members) assertSingleWithin(value)
}

function assertSingleWithin(value: ASTNode): void {
  if (value.kind === 'ListValue') value.values.forEach(assertSingleWithin)
  if (value.kind === 'ObjectValue') assertSingle(value.fields)
}

/** Whatever form a GraphQL request has (JSON, a list of them, a form, the query of the address), its plain text holds this word. */
export function mayMutate({ upstreamPath, body, headers }: Pick<Call, 'upstreamPath' | 'body' | 'headers'>): boolean {
  if (headers['content-encoding'] !== undefined) return true
  if (body !== null && (!isUtf8(body) || body.includes(0))) return true
  const [, query = ''] = /\?(.*)$/s.exec(upstreamPath) ?? []
  const plain = [query, body?.toString('utf8') ?? '']
    .flatMap((source) => [source, escapesDecoded(source)])
    .map(unescaped)
  return plain.some((source) => /mutation|content-transfer-encoding/i.test(source))
}

function escapesDecoded(source: string): string {
  return source.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
    Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

function unescaped(source: string): string {
  return source.replaceAll(/\\u(?:([0-9a-f]{4})|\{0*([0-9a-f]{1,5})\})/gi, (_, four?: string, braced?: string) =>
    String.fromCodePoint(Number.parseInt(four ?? braced ?? '', 16)),
  )
}
