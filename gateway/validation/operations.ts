/**
 * Holds operations of GraphQL against a schema: documents by the rules of the language, variables by their types. What is wrong is
 * said by the reference implementation, and no value of the caller is repeated.
 */
import {
  buildASTSchema,
  buildClientSchema,
  getVariableValues,
  parse,
  specifiedRules,
  validate,
  ValuesOfCorrectTypeRule,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  type IntrospectionQuery,
  type OperationDefinitionNode,
} from 'graphql'
import { DEFAULT_DOCUMENT_LIMITS, readJson } from '../../engine/base.ts'
import { isJsonObject } from '../json/strict-json.ts'
import type { Conformance, OperationsMessage, StatedOperation, Violation } from './message.ts'

/**
 * A schema is taken as it is: servers run schemas that a later edition of the language does not allow.
 * @param text SDL, or the JSON of an introspection query. @throws when it refers to types that it does not define
 */
export function openSchema(text: string): GraphQLSchema {
  return /^[\s\uFEFF,]*\{/.test(text)
    ? buildClientSchema(introspectionIn(text), { assumeValid: true })
    : buildASTSchema(parse(text, { noLocation: true }), { assumeValid: true, assumeValidSDL: true })
}

function introspectionIn(text: string): IntrospectionQuery {
  const read = readJson(text, DEFAULT_DOCUMENT_LIMITS)
  if (!read.ok) throw new Error(read.problem.message)
  const root = isJsonObject(read.value) && isJsonObject(read.value['data']) ? read.value['data'] : read.value
  if (!hasSchemaAnswer(root)) throw new Error('it has no `__schema`')
  return root
}

/** What it holds is looked into by whoever builds a schema from it. */
function hasSchemaAnswer(root: unknown): root is IntrospectionQuery {
  return isJsonObject(root) && isJsonObject(root['__schema'])
}

const MAX_LISTED = 10

export function operationsConformance({ operations }: OperationsMessage, schema: GraphQLSchema): Conformance {
  const isBatch = operations.length > 1
  const violations = operations.flatMap((operation, index) =>
    violationsOf(operation, schema).map(({ where, message }) => ({
      where: isBatch ? `${index}.${where}` : where,
      message,
    })),
  )
  return violations.length === 0
    ? { result: 'conforms', operation: null, note: null }
    : { result: 'violates', operation: null, violations: violations.slice(0, MAX_LISTED) }
}

const WITHOUT_VALUES = specifiedRules.filter((rule) => rule !== ValuesOfCorrectTypeRule)

function violationsOf(stated: StatedOperation, schema: GraphQLSchema): readonly Violation[] {
  const document = parse(stated.text)
  const check = (rules: typeof specifiedRules): readonly GraphQLError[] =>
    validate(schema, document, rules, { maxErrors: MAX_LISTED, hideSuggestions: true })
  const found = [
    ...check(WITHOUT_VALUES).map((error) => ({
      where: errorLocation(error),
      message: error.message.replace(/\.$/, ''),
    })),
    ...check([ValuesOfCorrectTypeRule]).map((error) => ({
      where: errorLocation(error),
      message: 'is not of the type that is asked for',
    })),
  ]
  const operation = operationNamed(document, stated.operationName)
  return found.length > 0 || operation === undefined ? found : ofVariables(operation, stated.variables, schema)
}

function errorLocation({ locations }: GraphQLError): string {
  const [place] = locations ?? []
  return place === undefined ? 'query' : `query:${place.line}:${place.column}`
}

function operationNamed({ definitions }: DocumentNode, name: string | null): OperationDefinitionNode | undefined {
  const operations = definitions.filter((one) => one.kind === 'OperationDefinition')
  return name === null ? operations[0] : operations.find((one) => one.name?.value === name)
}

function ofVariables(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  schema: GraphQLSchema,
): readonly Violation[] {
  const { errors } = getVariableValues(schema, variableDefinitions, variables, {
    maxErrors: MAX_LISTED,
    hideSuggestions: true,
  })
  return (errors ?? []).map(({ message }) => {
    const [, name = '', path = ''] = /^Variable "\$(\w+)" has invalid value(?: at (\S+))?:/.exec(message) ?? []
    return {
      where: name === '' ? 'variables' : `variables.${name}${path}`,
      message: 'is not of the type that is asked for',
    }
  })
}
