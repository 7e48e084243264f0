/**
 * Applied directives in SDL. Directives of the language become members of their element. Federation directives get
 * their original names, whatever a subgraph calls them, and canonical selections in their arguments.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import {
  parse,
  parseConstValue,
  print,
  type ArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type SelectionSetNode,
} from 'graphql/language'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { ALTERNATIVES } from './federation.ts'
import { literalOf } from './literals.ts'
import { tooDeepAt } from './nesting.ts'
import { NO_REASON, type DirectiveUsage } from './schema.ts'

/** The directives of one element, read. */
interface AppliedDirectives {
  readonly usages: readonly DirectiveUsage[]
  readonly deprecation: string | null
  readonly specifiedBy: string | null
  readonly isOneOf: boolean
}

const NOTHING_APPLIED: AppliedDirectives = { usages: [], deprecation: null, specifiedBy: null, isOneOf: false }

/** How a document names the federation directives. */
export interface Imports {
  /** Imported names → original names. */
  readonly names: ReadonlyMap<string, string>
  /** The prefix, before two underscores, of directives that are not imported. */
  readonly namespace: string
}

export function readApplied(
  directives: readonly ConstDirectiveNode[] | undefined,
  imports: Imports,
): AppliedDirectives {
  if (directives === undefined || directives.length === 0) return NOTHING_APPLIED
  let { deprecation, specifiedBy, isOneOf } = NOTHING_APPLIED
  const usages: DirectiveUsage[] = []
  for (const directive of directives) {
    const name = directive.name.value
    if (name === 'deprecated') deprecation = textArgument(directive, 'reason') ?? NO_REASON
    else if (name === 'specifiedBy') specifiedBy = textArgument(directive, 'url')
    else if (name === 'oneOf') isOneOf = true
    // The form of `extend` for libraries that cannot write it (federation 1).
    else if (ownName(name, imports) !== 'extends') usages.push(usageOf(directive, imports))
  }
  return { usages, deprecation, specifiedBy, isOneOf }
}

function textArgument({ arguments: given }: ConstDirectiveNode, name: string): string | null {
  const value = given?.find((argument) => argument.name.value === name)?.value
  return value?.kind === 'StringValue' ? value.value : null
}

/** Federation arguments that contain a selection of fields. */
const SELECTIONS: Readonly<Record<string, string>> = lookupTable({
  key: 'fields',
  requires: 'fields',
  provides: 'fields',
})

function usageOf(directive: ConstDirectiveNode, imports: Imports): DirectiveUsage {
  const name = ownName(directive.name.value, imports)
  const isImport = name === 'link' && FEDERATION.test(textArgument(directive, 'url') ?? '')
  const given = (directive.arguments ?? [])
    // The directives carry their original names, so the import arguments are not compared.
    .filter((argument) => !isImport || argument.name.value === 'url')
    .map(({ name: argument, value }): [string, string] => [
      argument.value,
      argumentLiteral(name, argument.value, value),
    ])
  return {
    name,
    arguments: new Map(given.sort(([a], [b]) => byCodeUnit(a, b))),
    mark: directive.loc?.start ?? 0,
  }
}

function argumentLiteral(directive: string, name: string, value: ConstValueNode): string {
  if (SELECTIONS[directive] === name && value.kind === 'StringValue') return JSON.stringify(selectionText(value.value))
  return ALTERNATIVES[directive] === name ? alternativesText(value) : literalOf(value)
}

/** Alternatives of rights, all of which are needed: `[["a", "b"], ["c"]]`. The order has no meaning on either level. */
function alternativesText(value: ConstValueNode): string {
  if (value.kind !== 'ListValue') return `[[${literalOf(value)}]]`
  const texts = value.values.map((item) => {
    const rights = item.kind === 'ListValue' ? item.values : [item]
    return `[${[...new Set(rights.map(literalOf))].sort(byCodeUnit).join(', ')}]`
  })
  return `[${[...new Set(texts)].sort(byCodeUnit).join(', ')}]`
}

function ownName(name: string, { names, namespace }: Imports): string {
  const prefix = `${namespace}__`
  return names.get(name) ?? (name.startsWith(prefix) ? name.slice(prefix.length) : name)
}

/** Maximum depth of a selection that is sorted. A deeper one is compared as written. */
const SELECTION_DEPTH = 32

/** The selection with its fields sorted, or the text as written if it is not a selection. */
function selectionText(text: string): string {
  const document = `{${text}}`
  if (tooDeepAt(document, SELECTION_DEPTH) !== null) return text
  // A selection of federation has no variables.
  const selection = text.includes('$') ? null : parseSelection(document)
  return selection === null ? text.trim().replaceAll(/\s+/g, ' ') : printSelection(selection)
}

function parseSelection(document: string): SelectionSetNode | null {
  try {
    const [definition] = parse(document, { noLocation: true }).definitions
    return definition?.kind === 'OperationDefinition' ? definition.selectionSet : null
  } catch {
    // Composition refuses a wrong selection. Here it is compared as text.
    return null
  }
}

function printSelection({ selections }: SelectionSetNode): string {
  const parts = selections.map((selection) => {
    const applied = (selection.directives ?? []).map((directive) => ` ${print(directive)}`).join('')
    if (selection.kind === 'FragmentSpread') return `...${selection.name.value}${applied}`
    const below = selection.selectionSet === undefined ? '' : ` { ${printSelection(selection.selectionSet)} }`
    if (selection.kind === 'InlineFragment') {
      return `... on ${selection.typeCondition?.name.value ?? ''}${applied}${below}`
    }
    const alias = selection.alias === undefined ? '' : `${selection.alias.value}: `
    return `${alias}${selection.name.value}${printArguments(selection.arguments ?? [])}${applied}${below}`
  })
  return parts.sort(byCodeUnit).join(' ')
}

function printArguments(given: readonly ArgumentNode[]): string {
  if (given.length === 0) return ''
  const texts = given.map(({ name, value }) => `${name.value}: ${literalOf(parseConstValue(print(value)))}`)
  return `(${texts.sort(byCodeUnit).join(', ')})`
}

const FEDERATION = /^https:\/\/specs\.apollo\.dev\/federation\//

/** The names under which `@link` imports the federation specification (federation 2, `import` and `as`). */
export function readImports(directives: readonly ConstDirectiveNode[]): Imports {
  const names = new Map<string, string>()
  let namespace = 'federation'
  for (const directive of directives) {
    if (directive.name.value !== 'link' || !FEDERATION.test(textArgument(directive, 'url') ?? '')) continue
    namespace = textArgument(directive, 'as') ?? namespace
    const list = directive.arguments?.find(({ name }) => name.value === 'import')?.value
    for (const item of list?.kind === 'ListValue' ? list.values : []) {
      if (item.kind !== 'ObjectValue') continue
      const name = memberText(item.fields, 'name')
      const alias = memberText(item.fields, 'as')
      if (name?.startsWith('@') && alias?.startsWith('@')) names.set(alias.slice(1), name.slice(1))
    }
  }
  return { names, namespace }
}

function memberText(
  fields: readonly { readonly name: { readonly value: string }; readonly value: { readonly kind: string } }[],
  name: string,
): string | null {
  const value = fields.find((field) => field.name.value === name)?.value
  return value !== undefined && 'value' in value && typeof value.value === 'string' ? value.value : null
}
