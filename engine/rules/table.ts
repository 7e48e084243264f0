/** Every rule that a comparison can name, sorted by id: the source of docs/rules.md, test/pins/rules.tsv and ruleset_hash. */
import { AGENT_TOOL_RULES } from './agent-tools/rows.ts'
import { graphqlRules } from './graphql/rows.ts'
import { JSON_SCHEMA_RULES } from './json-schema/rows.ts'
import { ASYNCAPI_RULES } from './asyncapi/rows.ts'
import { CRD_RULES } from './k8s-crd/rows.ts'
import { mcpRules } from './mcp/rows.ts'
import { openApiRules } from './openapi/rules.ts'
import { protoRules } from './protobuf/rows.ts'
import type { Rule } from './rule.ts'
import { schemaRules } from './schema-rules.ts'
import {
  CALLBACK_PARAMETER,
  CALLBACK_REQUEST,
  CALLBACK_RESPONSE,
  CALLBACK_RESPONSE_HEADER,
  CRD_OBJECT,
  RECEIVED_HEADERS,
  RECEIVED_PAYLOAD,
  REQUEST_BODY,
  REQUEST_HEADER_PARAMETER,
  REQUEST_PARAMETER,
  RESPONSE_BODY,
  RESPONSE_HEADER,
  SCHEMA_DOCUMENT,
  SENT_HEADERS,
  SENT_PAYLOAD,
  TOOL_INPUT,
  TOOL_OUTPUT,
} from './sites.ts'

const SCHEMA_SITES = [
  REQUEST_BODY,
  REQUEST_PARAMETER,
  REQUEST_HEADER_PARAMETER,
  RESPONSE_BODY,
  RESPONSE_HEADER,
  CALLBACK_REQUEST,
  CALLBACK_RESPONSE,
  CALLBACK_PARAMETER,
  CALLBACK_RESPONSE_HEADER,
  TOOL_INPUT,
  TOOL_OUTPUT,
  SCHEMA_DOCUMENT,
  CRD_OBJECT,
  SENT_PAYLOAD,
  SENT_HEADERS,
  RECEIVED_PAYLOAD,
  RECEIVED_HEADERS,
]

const CONTRACT_RULES = [JSON_SCHEMA_RULES, AGENT_TOOL_RULES, CRD_RULES, ASYNCAPI_RULES]

const RULES: ReadonlyMap<string, Rule> = new Map(
  [
    ...openApiRules(),
    ...mcpRules(),
    ...protoRules(),
    ...graphqlRules(),
    ...contractRules(),
    ...SCHEMA_SITES.flatMap(schemaRules),
  ]
    .map((rule) => [rule.id, rule] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
)

/** Every rule of every format, by id. */
export function ruleTable(): readonly Rule[] {
  return [...RULES.values()]
}

/** Undefined: no rule has this id. */
export function ruleOf(id: string): Rule | undefined {
  return RULES.get(id)
}

function contractRules(): readonly Rule[] {
  return CONTRACT_RULES.flatMap((rules) => [...rules.values()].map(({ rule }) => rule))
}
