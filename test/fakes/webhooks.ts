/** Deliveries as the platforms send them: payloads in their documented forms, signed the way each platform signs. */
import { createHmac, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { Webhook } from 'standardwebhooks'
import { at } from '../json.ts'

export const SECRET = 'a-secret-of-the-webhook-0123456789'
export const SIGNING_TOKEN = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

export interface Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const require = createRequire(import.meta.url)
const EXAMPLES: unknown = require('@octokit/webhooks-examples')

/** An example of the platform, with the repository and the members of the test in place of its own. */
export function githubPayload(name: string, action: string, members: Readonly<Record<string, unknown>>): unknown {
  const groups: readonly unknown[] = Array.isArray(EXAMPLES) ? EXAMPLES : []
  const group = groups.find((one) => at(one, 'name') === name)
  const examples = at(group, 'examples')
  const example = (Array.isArray(examples) ? examples : []).find((one) => at(one, 'action') === action)
  if (example === undefined) throw new Error(`no example of ${name}.${action}`)
  const repository = { ...Object(at(example, 'repository')), full_name: 'acme/pets', name: 'pets' }
  return merged({ ...Object(example), repository }, members)
}

/** Members of objects are replaced one by one, everything else as a whole. */
function merged(into: unknown, members: unknown): unknown {
  if (typeof into !== 'object' || into === null || Array.isArray(into)) return members
  if (typeof members !== 'object' || members === null || Array.isArray(members)) return members
  const result: Record<string, unknown> = { ...into }
  for (const [name, value] of Object.entries(members)) result[name] = merged(result[name], value)
  return result
}

export function github(name: string, payload: unknown, secret = SECRET, id: string = randomUUID()): Delivery {
  const body = JSON.stringify(payload)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': name,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  }
}

/** https://docs.gitlab.com/user/project/integrations/webhook_events/#merge-request-events */
export function gitlabPayload(action: string, iid: number, attributes: object = {}): unknown {
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: { id: 1, name: 'Administrator', username: 'root' },
    project: { id: 4711, name: 'pets', path_with_namespace: 'acme/pets', web_url: 'https://gitlab.test/acme/pets' },
    object_attributes: {
      id: 99,
      iid,
      target_branch: 'main',
      source_branch: 'feature',
      state: 'opened',
      url: `https://gitlab.test/acme/pets/-/merge_requests/${iid}`,
      action,
      ...attributes,
    },
    labels: [],
    changes: {},
  }
}

/** https://docs.gitlab.com/user/project/integrations/webhook_events/#pipeline-events */
export function gitlabTrainPayload(iid: number, sha: string, status = 'pending'): unknown {
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: 31,
      iid: 3,
      ref: `refs/merge-requests/${iid}/train`,
      tag: false,
      sha,
      before_sha: '0'.repeat(40),
      source: 'merge_request_event',
      status,
      stages: ['test'],
      created_at: '2026-08-12 15:23:28 UTC',
      finished_at: null,
      duration: null,
      url: 'https://gitlab.test/acme/pets/-/pipelines/31',
    },
    merge_request: {
      id: 99,
      iid,
      title: 'change',
      source_branch: 'feature',
      source_project_id: 4711,
      target_branch: 'main',
      target_project_id: 4711,
      state: 'opened',
      merge_status: 'can_be_merged',
      url: `https://gitlab.test/acme/pets/-/merge_requests/${iid}`,
    },
    user: { id: 1, name: 'Administrator', username: 'root' },
    project: { id: 4711, name: 'pets', path_with_namespace: 'acme/pets', web_url: 'https://gitlab.test/acme/pets' },
    builds: [],
  }
}

export function gitlab(payload: unknown, secret = SECRET, id: string = randomUUID()): Delivery {
  const headers = {
    'content-type': 'application/json',
    'x-gitlab-event': 'Merge Request Hook',
    'x-gitlab-token': secret,
    'idempotency-key': id,
  }
  return { body: JSON.stringify(payload), headers }
}

/** With a signing token, as Standard Webhooks defines it. */
export function signedGitlab(payload: unknown, at_: Date = new Date(), id: string = randomUUID()): Delivery {
  const body = JSON.stringify(payload)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitlab-event': 'Merge Request Hook',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at_.getTime() / 1000)),
      'webhook-signature': new Webhook(SIGNING_TOKEN).sign(id, at_, body),
    },
  }
}

/** https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/#Pull-request-events */
export function bitbucketPayload(id: number, state = 'OPEN'): unknown {
  return {
    actor: { type: 'user', nickname: 'emmap1' },
    repository: { type: 'repository', full_name: 'acme/pets', name: 'pets', links: {} },
    pullrequest: {
      id,
      title: 'change',
      state,
      updated_on: new Date().toISOString(),
      source: { branch: { name: 'feature' } },
      destination: { branch: { name: 'main' } },
      links: { html: { href: `https://bitbucket.test/acme/pets/pull-requests/${id}` } },
    },
  }
}

export function bitbucket(key: string, payload: unknown, secret = SECRET, id = `{${randomUUID()}}`): Delivery {
  const body = JSON.stringify(payload)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-event-key': key,
      'x-request-uuid': id,
      'x-hook-uuid': `{${randomUUID()}}`,
      'x-attempt-number': '1',
      'x-hub-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  }
}
