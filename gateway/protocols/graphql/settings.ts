/** Where the schema of a GraphQL route comes from when no document names it, and which documents its server keeps. Part of the configuration's schema. */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

export const GraphqlRoute = strict(
  {
    introspect: Type.Boolean({
      default: false,
      description:
        'protocol graphql: ask the upstream itself what it offers now (introspection), with the credentials of the call, instead of contract.current.',
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
export type GraphqlRoute = Static<typeof GraphqlRoute>
