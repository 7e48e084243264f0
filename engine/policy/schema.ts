/** The policy document as a schema: what a pack.yaml may say (served as `/schemas/policy.json`). What it means is in compile.ts. */
import type { Static } from 'typebox'
import { DECISIONS } from '../model/decision.ts'
import { MAX_EXPRESSION_LENGTH } from './expression.ts'
import { LEVELS } from '../model/finding.ts'
import { MAX_SELECTOR_LENGTH } from '../rules/catalog/selector.ts'
import { Type } from '../common/type-builder.ts'

const IDENTIFIER = '^[a-z0-9][a-z0-9_.-]{0,62}$'
const words = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
const identifier = (description: string) => Type.String({ pattern: IDENTIFIER, description })
const closed = { additionalProperties: false }
const SELECTOR =
  'A selector: a rule id, a pattern such as mcp-tool-*, coordinates such as format:openapi,kind:lifecycle, or several of these with commas, all of which must hold.'
/** More people than this are a mistake. */
const MOST_APPROVALS = 20
const Mode = Type.Enum(['enforce', 'observe'])

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 100, description })
const approvers = Type.Optional(
  Type.Array(Type.String({ pattern: IDENTIFIER }), {
    minItems: 1,
    maxItems: 20,
    description:
      'Groups of which an approver has to be in one, where this calls for REQUIRE_APPROVAL; any approver when absent.',
  }),
)
const approvals = Type.Optional(
  Type.Union(
    [
      Type.Integer({ minimum: 1, maximum: MOST_APPROVALS }),
      Type.String({
        pattern: '^(?:[1-9]|1[0-9]|20) of [a-z0-9][a-z0-9_.-]{0,62}(?: or [a-z0-9][a-z0-9_.-]{0,62}){0,19}$',
      }),
    ],
    {
      description:
        'Number of people who have to grant the request, where this calls for REQUIRE_APPROVAL: 2, or with their groups 2 of payments or security. 1 when absent.',
    },
  ),
)
const environments = (what: string) => Type.Optional(names(`Environments in which ${what}; all when absent.`))
const operations = (what: string) => Type.Optional(names(`Operations for which ${what}; all when absent.`))
const runbook = Type.Optional(
  Type.String({
    pattern: '^https?://',
    maxLength: 500,
    description: 'Address of what to do when it fires: the target of the first action that the decision requires.',
  }),
)
const Effect = Type.Enum(
  DECISIONS.filter((decision) => decision !== 'ALLOW'),
  { description: 'Decision that it calls for.' },
)
const instantText = (description: string) =>
  Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$', description })

const PolicyRule = Type.Object(
  {
    id: identifier('Name of the rule in evidence, metrics and traces; unique in the pack.'),
    description: Type.Optional(words(500, 'What the rule is for.')),
    when: words(
      MAX_EXPRESSION_LENGTH,
      'CEL, true or false. Variables: `finding {rule, code, level, side, location, message, fingerprint, format, area, kind, action, effect, direction}`, `context {operation, environment, repository, branch, pull_request, base, head, target_id, target_uri}`, `operation {method, path, operation_id}` or null, `tool` (name) or null, `findings` (list of `{artifact, rule, code, level, side, location, places, format, area, kind, action, effect, direction}`), `change_set {artifacts, ids, types, failed, breaking, dangerous, info, consumers}`, `route` (name) or null. `time {date, weekday, hour, minute, unix}` is in UTC, weekday 1 is Monday. `history {window, decisions, allow, warn, require_approval, block, flips, same_input, last, last_age}` counts earlier decisions of the same scope.',
    ),
    for: Type.Optional(
      Type.Enum(['finding', 'change_set'], {
        default: 'finding',
        description:
          'What the condition is asked about: each finding, or once the change set as a whole, found or not. Then it may not read finding, operation or tool.',
      }),
    ),
    environments: environments('the rule counts'),
    operations: operations('the rule counts'),
    then: Type.Enum(DECISIONS, {
      description: 'Decision that the finding calls for. The strictest of all rules and findings wins.',
    }),
    reason: Type.Optional(
      Type.Object(
        {
          code: Type.String({ pattern: '^[A-Z][A-Z0-9_]{2,63}$', description: 'Reason code of the envelope.' }),
          message: words(200, 'Said before the message of the finding.'),
        },
        { ...closed, description: 'Reason to give; without it the finding gives its own code and message.' },
      ),
    ),
    mode: Type.Optional({
      ...Mode,
      description: 'observe: the rule is computed and reported and holds nothing back. Default: the mode of the pack.',
    }),
    owner: Type.Optional(words(200, 'Who answers for the rule.')),
    approvers,
    approvals,
    runbook,
  },
  closed,
)

const WaiverEntry = Type.Object(
  {
    id: identifier('Name of the waiver; unique in the pack.'),
    rule: Type.Optional(words(MAX_SELECTOR_LENGTH, `Rules of the findings that are waived. ${SELECTOR}`)),
    location: Type.Optional(
      words(2000, 'JSON Pointer of the findings that are waived, or a prefix of it that ends at a segment.'),
    ),
    fingerprint: Type.Optional(words(200, 'Fingerprint of the one finding that is waived.')),
    reason: words(500, 'Why the finding is acceptable.'),
    owner: words(200, 'Who answers for the waiver.'),
    expires: Type.String({
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$',
      description: 'UTC day (to its end) or instant after which the waiver is void.',
    }),
  },
  {
    ...closed,
    anyOf: [{ required: ['fingerprint'] }, { required: ['rule'] }],
    description: 'Lowers fitting findings to WARN with the warning WAIVED_FINDING. Needs a fingerprint or a rule.',
  },
)

const FreezeEntry = Type.Object(
  {
    id: identifier('Name of the window; unique in the pack, among its rules too.'),
    from: instantText('UTC instant at which the window begins.'),
    until: instantText('UTC instant at which the window ends.'),
    environments: environments('nothing is to change'),
    operations: names('Operations that are frozen, e.g. merge, deploy, publish.'),
    then: Type.Optional(
      Type.Enum(['REQUIRE_APPROVAL', 'BLOCK'], { default: 'BLOCK', description: 'Decision while the window is open.' }),
    ),
    reason: words(200, 'Why nothing is to change; stands in the decision.'),
    owner: Type.Optional(words(200, 'Who answers for the window.')),
    approvers,
    approvals,
  },
  { ...closed, description: 'A time in which operations are held up, whatever is found.' },
)

const MinimumBump = Type.Object(
  {
    then: Effect,
    environments: environments('it is asked'),
    operations: operations('it is asked'),
    approvers,
    approvals,
    runbook,
  },
  {
    ...closed,
    description:
      'Requires a version to be raised as far as the changes require: major for breaking ones, minor for others; one step less before 1.0.0. It applies to the version that a contract states (info.version of OpenAPI and AsyncAPI). It also applies to a package or server that is published with contracts in it.',
  },
)

const ProtectedConsumers = Type.Object(
  {
    names: Type.Array(words(200, 'Name of a declared consumer.'), { minItems: 1, maxItems: 1000 }),
    then: Effect,
    environments: environments('they are protected'),
    operations: operations('they are protected'),
    approvers,
    approvals,
    runbook,
  },
  { ...closed, description: 'Declared consumers that no breaking or dangerous change is to reach.' },
)

const days = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: 3650, description }))
const ttl = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400, description }))

export const PolicyDocument = Type.Object(
  {
    apiVersion: Type.Literal('preflight.dev/v1'),
    kind: Type.Literal('Policy'),
    metadata: Type.Object(
      { name: identifier('Name of the pack.'), description: Type.Optional(words(500, 'What the pack is for.')) },
      closed,
    ),
    mode: Type.Optional({
      ...Mode,
      default: 'enforce',
      description: 'observe: every rule of the pack is computed and reported and holds nothing back.',
    }),
    on_incomplete: Type.Optional(
      Type.Enum(
        DECISIONS.filter((decision) => decision !== 'ALLOW'),
        { default: 'BLOCK', description: 'Decision when an artifact or a condition could not be judged. Never ALLOW.' },
      ),
    ),
    rules: Type.Array(PolicyRule, { minItems: 1, maxItems: 200, description: 'What no rule matches is ALLOW.' }),
    levels: Type.Optional(
      Type.Record(
        Type.String({ pattern: `^[A-Za-z0-9*: _,-]{1,${MAX_SELECTOR_LENGTH}}$` }),
        Type.Enum([...LEVELS, 'off']),
        {
          description: `Level of comparison rules instead of their own; off drops their findings. ${SELECTOR} A rule that is named by its id has that level; of several patterns the strictest holds.`,
        },
      ),
    ),
    waivers: Type.Optional(Type.Array(WaiverEntry, { maxItems: 1000 })),
    freezes: Type.Optional(Type.Array(FreezeEntry, { maxItems: 200 })),
    minimum_bump: Type.Optional(MinimumBump),
    protected_consumers: Type.Optional(ProtectedConsumers),
    fingerprint_binding: Type.Optional(
      names(
        'Operations whose receipts hold only for an attempt that states the fingerprint or input fingerprint of its target: fingerprint_binding_expected.',
      ),
    ),
    history: Type.Optional(
      Type.Object(
        {
          window: Type.Optional(
            Type.Integer({
              minimum: 60,
              maximum: 31 * 86_400,
              default: 86_400,
              description: 'Seconds of the past that `history` in conditions counts over.',
            }),
          ),
        },
        { ...closed, description: 'How far back conditions look.' },
      ),
    ),
    deprecation: Type.Optional(
      Type.Object(
        {
          stable_days: days('Between the announcement and the removal of something stable.'),
          beta_days: days('Between the announcement and the removal of something in beta.'),
        },
        { ...closed, description: 'Minimum days of a deprecation; 0 requires none.' },
      ),
    ),
    ttl: Type.Optional(
      Type.Object(
        {
          default: ttl('Operations without a value of their own.'),
          operations: Type.Optional(
            Type.Record(
              Type.String({ pattern: '^[A-Za-z0-9_.:/-]{1,100}$' }),
              Type.Integer({ minimum: 1, maximum: 86_400 }),
            ),
          ),
        },
        { ...closed, description: 'Seconds that a decision is valid, by operation.' },
      ),
    ),
  },
  {
    ...closed,
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'policy.json',
    title: 'Preflight Gateway policy pack',
  },
)
export type PolicyDocument = Static<typeof PolicyDocument>
