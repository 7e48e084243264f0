/** How a route of the protocol `mapped` says what its requests are: rules of CEL expressions. Part of the configuration's schema. */
import type { Static } from 'typebox'
import { ARTIFACT_TYPES, Type } from '../../../engine/base.ts'

const expression = (description: string) =>
  Type.String({ minLength: 1, maxLength: 2048, description: `${description} CEL.` })

/** One side of a contract that a request changes. */
export const MappedText = Type.Union([
  expression('The text, or a value that is written as JSON; null: there is none.'),
  Type.Object(
    {
      path: expression(
        'Path at the upstream of the route that answers the text, read as the caller; 404: there is none.',
      ),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      url: Type.String({
        pattern: '^https?://',
        description: 'Address that answers the text, read without credentials.',
      }),
    },
    { additionalProperties: false },
  ),
])
export type MappedText = Static<typeof MappedText>

export const MapRule = Type.Object(
  {
    when: Type.Optional(expression('Which requests the rule is about; every one when absent.')),
    action: Type.Union([Type.Literal('pass'), Type.Literal('judge'), Type.Literal('receipt'), Type.Literal('deny')], {
      description:
        'pass: forwarded unjudged. judge: the artifact is compared. receipt: forwarded only with a receipt. deny: refused.',
    }),
    operation: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Operation to authorize; the route’s when absent.' }),
    ),
    target: Type.Optional(expression('target_id of the decision, a text (required to judge and for a receipt).')),
    repository: Type.Optional(expression('Repository that the request is about.')),
    branch: Type.Optional(expression('Branch that the request is about.')),
    pull_request: Type.Optional(expression('Number of the pull request.')),
    base: Type.Optional(expression('Commit that the change starts from.')),
    head: Type.Optional(expression('Commit that is put in effect.')),
    artifact: Type.Optional(
      Type.Object(
        {
          type: Type.Union(
            ARTIFACT_TYPES.map((type) => Type.Literal(type)),
            { description: 'What kind of contract it is.' },
          ),
          before: Type.Union(MappedText.anyOf, { description: 'The contract as it is.' }),
          after: Type.Union(MappedText.anyOf, { description: 'The contract as the request would make it.' }),
        },
        { additionalProperties: false, description: 'The contract that the request changes (required to judge).' },
      ),
    ),
    message: Type.Optional(Type.String({ maxLength: 500, description: 'Message for a denied caller.' })),
  },
  { additionalProperties: false },
)
export type MapRule = Static<typeof MapRule>

export const RequestMap = Type.Array(MapRule, {
  minItems: 1,
  description:
    'protocol mapped: what requests are, the first rule that matches. Expressions read request: method, path, segments, query, headers, body (JSON, read only when an expression asks for it).',
})
