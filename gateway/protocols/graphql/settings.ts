/**
 * The source of the schema of a GraphQL route when no document is configured, and the documents that its server stores.
 * Part of the configuration schema.
 */
import { unreadableSource } from '../../documents/contract-checks.ts'
import { CORRECT_PATH, mistakeAt } from '../../settings/mistake-collector.ts'
import type { LocatedMistake } from '../../settings/schema-mistakes.ts'
import { CONTRACT_MEMBERS, type ProtocolSettings, type RouteWith } from '../common/protocol-settings.ts'
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

export const GraphqlSection = strict(
  {
    introspect: Type.Boolean({
      default: false,
      description:
        'protocol graphql: read the current schema from the upstream itself (introspection), with the credentials of the call, instead of contract.current.',
    }),
    documents: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'protocol graphql: JSON file of the documents that clients name by id: an object of id → document, or a manifest of Apollo. Relative to the configuration file.',
      }),
    ),
  },
  'Requests to a GraphQL server.',
)
export type GraphqlSection = Static<typeof GraphqlSection>

const sections = { graphql: GraphqlSection }
export type GraphqlRoute = RouteWith<typeof sections>

export const graphqlSettings = {
  sections,
  contractMembers: CONTRACT_MEMBERS,
  contractType: 'graphql',
  currentContract:
    'the schema that the upstream offers now, contract: { current: { file: … } }, or read it from the upstream: graphql: { introspect: true }',
  asksUpstream: ({ graphql }) => graphql.introspect,
  validates: 'calls',
  mistakes: (route, pointer) => [...repeatedSchema(route, pointer), ...unreadableDocuments(route, pointer)],
} satisfies ProtocolSettings<typeof sections>

function repeatedSchema({ graphql, contract }: GraphqlRoute, pointer: string): readonly LocatedMistake[] {
  if (!graphql.introspect || contract?.current === undefined) return []
  return [
    mistakeAt(`${pointer}/graphql/introspect`, 'contract.current already names the schema', 'remove one of the two'),
  ]
}

/** Checks the file of documents that the server stores. */
function unreadableDocuments({ graphql: { documents } }: GraphqlRoute, pointer: string): readonly LocatedMistake[] {
  const reason = documents === undefined ? null : unreadableSource({ file: documents }, false)
  return reason === null ? [] : [mistakeAt(`${pointer}/graphql/documents`, reason, CORRECT_PATH)]
}
