/** Proof that a tenant controls a repository, and the list of proven repositories (docs/reference/api.md#bindings). */
import { Type } from '../../../engine/base.ts'
import type { BindingRow } from '../../store/bindings.ts'
import { MARKER_PATH, openChallenge, proveBinding } from '../../scm/bindings.ts'
import { CorrelationId, ID_PATTERN, instant, listAnswer, listMembers } from '../schemas/shapes.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { SCM_TOKEN_HEADER, scmToken } from '../identity.ts'

const Platform = Type.Enum(['scm_a', 'scm_b', 'scm_c'], {
  description: 'scm_a: GitHub. scm_b: GitLab. scm_c: Bitbucket.',
})
const Repository = Type.String({ minLength: 3, maxLength: 200, description: 'owner/name, or group/subgroup/name.' })

const Binding = Type.Object(
  {
    platform: Platform,
    repository: Type.String(),
    proven: Type.Literal(true),
    proven_at: instant(),
    proven_by: Type.String({ description: 'Audience of the key that proved it.' }),
  },
  { title: 'RepositoryBinding', description: 'The tenant controls this repository.' },
)

export const challengeBinding = defineRoute({
  method: 'POST',
  paths: ['/api/v1/bindings/challenge'],
  operationId: 'challengeBinding',
  tag: 'bindings',
  summary: 'Get the marker file that proves control over a repository',
  access: 'ask',
  body: Type.Object({ platform: Platform, repository: Repository }, { title: 'ChallengeRequest' }),
  answers: {
    200: {
      description: 'Commit the content at the path on the default branch, then prove it.',
      content: {
        'application/json': Type.Object(
          {
            challenge_id: Type.String(),
            marker_path: Type.String(),
            marker_content: Type.String(),
            expires_at: instant(),
            correlation_id: CorrelationId,
          },
          { title: 'Challenge' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const { body, settings, correlationId } = exchange
    const validity = settings.config.scm.challenge * 1000
    const { tenant } = callerOf(exchange)
    const row = await openChallenge(tenant, { platform: body.platform, repository: body.repository }, validity, deps)
    return json({
      challenge_id: row.challengeId,
      marker_path: MARKER_PATH,
      marker_content: row.marker,
      expires_at: new Date(row.expiresAt).toISOString(),
      correlation_id: correlationId,
    })
  },
})

export const provingBinding = defineRoute({
  method: 'POST',
  paths: ['/api/v1/bindings/prove'],
  operationId: 'proveBinding',
  tag: 'bindings',
  summary: 'Prove control over a repository by the marker file in it',
  access: 'ask',
  headers: SCM_TOKEN_HEADER,
  body: Type.Object({ challenge_id: Type.String({ pattern: ID_PATTERN }) }, { title: 'ProveRequest' }),
  answers: {
    200: {
      description: 'The binding is recorded; later decisions about the repository contain it.',
      content: {
        'application/json': Type.Object(
          { binding: Binding, correlation_id: CorrelationId },
          { title: 'ProvenBinding' },
        ),
      },
    },
  },
  errors: ['NOT_FOUND', 'BINDING_NOT_PROVEN', 'REPOSITORY_INACCESSIBLE'],
  async handle(exchange, deps) {
    const { tenant, audience } = callerOf(exchange)
    const prover = { tenant, audience, token: scmToken(exchange) }
    const row = await proveBinding(exchange.body.challenge_id, prover, deps)
    deps.logger.info(
      { event: 'binding.proven', platform: row.platform, repository: row.repository, by: audience },
      'binding proven',
    )
    return json({ binding: bindingView(row), correlation_id: exchange.correlationId })
  },
})

export const listBindings = defineRoute({
  method: 'GET',
  paths: ['/api/v1/bindings'],
  operationId: 'listBindings',
  tag: 'bindings',
  summary: 'Repositories that the tenant has proven to control',
  access: 'key',
  answers: {
    200: {
      description: 'By platform and name.',
      content: {
        'application/json': Type.Object(
          { ...listMembers('bindings', Type.Array(Binding)), correlation_id: CorrelationId },
          { title: 'BindingList' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const rows = await deps.store.bindings.list(callerOf(exchange).tenant)
    return json({ ...listAnswer('bindings', rows.map(bindingView)), correlation_id: exchange.correlationId })
  },
})

function bindingView({ platform, repository, provenAt, provenBy }: BindingRow): object {
  return {
    platform,
    repository,
    proven: true,
    proven_at: new Date(provenAt).toISOString(),
    proven_by: provenBy,
  }
}
