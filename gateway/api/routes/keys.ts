/** API keys managed by administrators (docs/reference/api.md#get-apiv1keys). A new key is in its answer once, and kept only as a hash. */
import { Type } from '../../../engine/base.ts'
import { apiKeyView } from '../../callers/api-keys.ts'
import { changeApiKey, createKey, managedKeys, revokeKey, rotateKey } from '../../callers/manage-keys.ts'
import { ROLES } from '../../store/api-keys.ts'
import { CorrelationId, instant, listAnswer, listMembers, nullable } from '../schemas/shapes.ts'
import { callerOf, defineRoute, json } from '../route.ts'

const PATH = '/api/v1/keys'
const DAY = 86_400

export const Key = Type.Object(
  {
    id: Type.String({ description: 'The audience of the key in decisions.' }),
    name: Type.String(),
    role: Type.Enum(ROLES),
    groups: Type.Array(Type.String()),
    tenant: Type.String(),
    plan: Type.String(),
    owner: nullable(Type.String({ description: 'The person behind the key: keys of one owner count as one person.' })),
    state: Type.Enum(['valid', 'expired', 'revoked']),
    created_at: instant(),
    expires_at: nullable(instant()),
    used_at: nullable(instant('A minute more or less.')),
    revoked_at: nullable(instant()),
  },
  { title: 'ApiKey' },
)
export const KeyAnswer = Type.Object({ key: Key, correlation_id: CorrelationId }, { title: 'ApiKeyAnswer' })
export const MadeKey = Type.Object(
  { api_key: Type.String({ description: 'Shown this once.' }), key: Key, correlation_id: CorrelationId },
  { title: 'MadeApiKey' },
)
const groups = Type.Optional(
  Type.Array(Type.String({ maxLength: 63 }), { maxItems: 50, description: 'Groups of approvers.' }),
)
const owner = Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 300 })))
const lifetime = Type.Optional(
  nullable(
    Type.Integer({ minimum: 1, maximum: 3650 * DAY, description: 'Seconds from now; null: until it is revoked.' }),
  ),
)
const one = (description: string) => ({ 200: { description, content: { 'application/json': KeyAnswer } } })
const made = (description: string) => ({ 201: { description, content: { 'application/json': MadeKey } } })
const shared = { tag: 'accounts', access: 'administer' } as const
const params = { id: 'Id of the key, v:…' }

export const listKeys = defineRoute({
  ...shared,
  method: 'GET',
  paths: [PATH],
  operationId: 'listKeys',
  summary: 'API keys, newest first',
  answers: {
    200: {
      description: 'Of the tenant; with a key of the tenant local, of all tenants.',
      content: {
        'application/json': Type.Object(
          { ...listMembers('keys', Type.Array(Key)), correlation_id: CorrelationId },
          { title: 'ApiKeyList' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const now = deps.now()
    const rows = await managedKeys(callerOf(exchange), deps)
    return json({
      ...listAnswer(
        'keys',
        rows.map((row) => apiKeyView(row, now)),
      ),
      correlation_id: exchange.correlationId,
    })
  },
})

export const makeKey = defineRoute({
  ...shared,
  method: 'POST',
  paths: [PATH],
  operationId: 'createKey',
  summary: 'Make an API key',
  body: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 200 }),
      role: Type.Enum(ROLES),
      tenant: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' })),
      plan: Type.Optional(Type.String({ maxLength: 32 })),
      groups,
      owner,
      lifetime,
    },
    { title: 'ApiKeyRequest' },
  ),
  answers: made('The key. It is shown this once and kept only as a hash.'),
  async handle(exchange, deps) {
    const { body, settings, correlationId } = exchange
    const { key, row } = await createKey(callerOf(exchange), body, settings.config.plans, deps)
    return json({ api_key: key, key: apiKeyView(row, deps.now()), correlation_id: correlationId }, 201)
  },
})

export const updateKey = defineRoute({
  ...shared,
  method: 'POST',
  paths: [`${PATH}/{id}`],
  operationId: 'changeKey',
  summary: 'Change groups, owner or lifetime of an API key',
  params,
  body: Type.Object({ groups, owner, lifetime }, { title: 'ApiKeyChange' }),
  answers: one('The key after the change.'),
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const row = await changeApiKey(callerOf(exchange), exchange.params['id'] ?? '', exchange.body, deps)
    return json({ key: apiKeyView(row, deps.now()), correlation_id: exchange.correlationId })
  },
})

export const renewKey = defineRoute({
  ...shared,
  method: 'POST',
  paths: [`${PATH}/{id}/rotate`],
  operationId: 'rotateKey',
  summary: 'Make a new API key in place of another one',
  params,
  bodyOptional: true,
  body: Type.Object(
    {
      overlap: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 90 * DAY,
          default: DAY,
          description: 'Seconds that the old key stays valid.',
        }),
      ),
    },
    { title: 'ApiKeyRotation' },
  ),
  answers: made('The new key, with the same name, role, groups and owner.'),
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const { params: given, body, correlationId } = exchange
    const { key, row } = await rotateKey(callerOf(exchange), given['id'] ?? '', body.overlap ?? DAY, deps)
    return json({ api_key: key, key: apiKeyView(row, deps.now()), correlation_id: correlationId }, 201)
  },
})

export const endKey = defineRoute({
  ...shared,
  method: 'DELETE',
  paths: [`${PATH}/{id}`],
  operationId: 'revokeKey',
  summary: 'Revoke an API key, immediately and permanently',
  params,
  answers: one('The key, revoked.'),
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const row = await revokeKey(callerOf(exchange), exchange.params['id'] ?? '', deps)
    return json({ key: apiKeyView(row, deps.now()), correlation_id: exchange.correlationId })
  },
})
