/**
 * Every rule that a comparison can report, sorted by id: the source of docs/rules.md, test/pins/rules.tsv and
 * ruleset_hash.
 */
import type { ArtifactType } from '../../model/change-set.ts'
import { AGENT_TOOL_RULES } from '../agent-tools/rows.ts'
import { GRAPHQL_RULES } from '../graphql/rows.ts'
import { JSON_SCHEMA_RULES } from '../json-schema/rows.ts'
import { ASYNCAPI_RULES } from '../asyncapi/rows.ts'
import { CRD_RULES } from '../k8s-crd/rows.ts'
import { MCP_RULES } from '../mcp/rows.ts'
import { OPENAPI_RULES } from '../openapi/rules.ts'
import { PROTO_RULES } from '../protobuf/rows.ts'
import { rulesIn } from '../row.ts'
import type { Rule } from '../rule.ts'
import { schemaRules } from '../schema-rules.ts'
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
} from '../../schema/sites.ts'
import { ARTIFACT_TYPES } from '../../model/artifact.ts'

const OPENAPI_SITES = [
  REQUEST_BODY,
  REQUEST_PARAMETER,
  REQUEST_HEADER_PARAMETER,
  RESPONSE_BODY,
  RESPONSE_HEADER,
  CALLBACK_REQUEST,
  CALLBACK_RESPONSE,
  CALLBACK_PARAMETER,
  CALLBACK_RESPONSE_HEADER,
]
const TOOL_SITES = [TOOL_INPUT, TOOL_OUTPUT]
const MESSAGE_SITES = [SENT_PAYLOAD, SENT_HEADERS, RECEIVED_PAYLOAD, RECEIVED_HEADERS]

/** The rules of each format. Agent tools have those of MCP tools, and some of their own. */
const BY_FORMAT: Readonly<Record<ArtifactType, readonly Rule[]>> = {
  openapi: [...OPENAPI_RULES, ...OPENAPI_SITES.flatMap(schemaRules)],
  graphql: rulesIn(GRAPHQL_RULES),
  protobuf: rulesIn(PROTO_RULES),
  asyncapi: [...rulesIn(ASYNCAPI_RULES), ...MESSAGE_SITES.flatMap(schemaRules)],
  mcp_manifest: [...rulesIn(MCP_RULES), ...TOOL_SITES.flatMap(schemaRules)],
  agent_tools: rulesIn(AGENT_TOOL_RULES),
  json_schema: [...rulesIn(JSON_SCHEMA_RULES), ...schemaRules(SCHEMA_DOCUMENT)],
  k8s_crd: [...rulesIn(CRD_RULES), ...schemaRules(CRD_OBJECT)],
}

const RULES: ReadonlyMap<string, Rule> = new Map(
  Object.values(BY_FORMAT)
    .flat()
    .map((rule) => [rule.id, rule] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
)

const FORMATS: ReadonlyMap<string, ArtifactType> = new Map(
  ARTIFACT_TYPES.flatMap((format) => BY_FORMAT[format].map(({ id }) => [id, format] as const)),
)

/** The format of a rule, as artifact types name it. Undefined if no rule has this id. */
export function formatOf(id: string): ArtifactType | undefined {
  return FORMATS.get(id)
}

/** Every rule of every format, by id. */
export function ruleTable(): readonly Rule[] {
  return [...RULES.values()]
}

/** Undefined if no rule has this id. */
export function ruleOf(id: string): Rule | undefined {
  return RULES.get(id)
}
