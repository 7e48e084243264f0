/** The input of a decision, in a form that can be stored and read again. Texts are represented by their digest. */
import type { Static, TSchema } from 'typebox'
import { ARTIFACT_TYPES, DECISIONS, Type } from '../../engine/base.ts'

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const textOrNull = orNull(Type.String())

const Problem = Type.Object({
  code: Type.String(),
  message: Type.String(),
  pointer: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
})

export const KeptDecision = Type.Object({
  version: Type.Literal(1),
  artifacts: Type.Array(
    Type.Object({
      id: Type.String(),
      type: Type.Enum(ARTIFACT_TYPES),
      path: Type.Optional(Type.String()),
      /** Digests. */
      before: Type.String(),
      after: Type.String(),
      /** Digests by path; absent: the artifact carries no files. */
      files: Type.Optional(
        Type.Unsafe<Readonly<Record<string, string | { readonly before?: string; readonly after?: string }>>>({
          type: 'object',
          additionalProperties: Type.Union([
            Type.String(),
            Type.Object({ before: Type.Optional(Type.String()), after: Type.Optional(Type.String()) }),
          ]),
        }),
      ),
    }),
  ),
  /** The artifact was not analysed, for whatever reason: a replay cannot know more. */
  failed: Type.Array(Type.Object({ id: Type.String(), type: Type.Enum(ARTIFACT_TYPES), problem: Problem })),
  context: Type.Object({
    operation: textOrNull,
    environment: textOrNull,
    repository: textOrNull,
    branch: textOrNull,
    pull_request: textOrNull,
    base: textOrNull,
    head: textOrNull,
    target_id: textOrNull,
    target_uri: textOrNull,
  }),
  scope: orNull(
    Type.Union([
      Type.Object({ tool: Type.String() }),
      Type.Object({
        method: Type.String(),
        path: Type.String(),
        carriesAny: Type.Optional(Type.Boolean()),
        files: Type.Optional(Type.Array(Type.String())),
      }),
      Type.Object({ prompt: Type.String() }),
      Type.Object({ resource: Type.String() }),
      Type.Object({
        root: Type.Enum(['QUERY', 'MUTATION', 'SUBSCRIPTION']),
        fields: Type.Array(Type.String()),
        touches: Type.Array(Type.String()),
      }),
    ]),
  ),
  route: textOrNull,
  /** Absent: nothing was published under a version. */
  release: Type.Optional(Type.Object({ name: Type.String(), base: textOrNull, head: Type.String() })),
  /** Digest of the declared consumers, as JSON; null: none were. */
  consumers: textOrNull,
  history: Type.Array(Type.Object({ decision: Type.Enum(DECISIONS), at: Type.Integer(), isSameInput: Type.Boolean() })),
  /** The grant that the decision used; it applies under the same policy only. */
  grant: orNull(Type.Object({ id: Type.String(), approver: Type.String(), until: Type.Number() })),
  policy_pin: textOrNull,
  /**
   * Present when the gateway listed the change set itself: why the list is incomplete, and what differs from the one that a
   * caller attested.
   */
  derived: Type.Optional(Type.Object({ problem: orNull(Problem), diverged: Type.Optional(Type.String()) })),
  now: Type.Integer(),
})
export type KeptDecision = Static<typeof KeptDecision>

export const KeptConsumers = Type.Array(
  Type.Object({
    name: Type.String(),
    uses: Type.Array(Type.Object({ artifact: textOrNull, operation: textOrNull, tool: textOrNull })),
  }),
)
