/** A receipt for a write that cannot be compared with anything serves this one request: not another body, query, or user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { issuedReceipt } from '../../fakes/issued-receipt.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { at } from '../../json.ts'

interface Write {
  readonly method: string
  readonly path: string
  readonly body?: string | FormData
  readonly headers?: Readonly<Record<string, string>>
}

const JSON_TYPE = { 'content-type': 'application/json' }
const write = (method: string, path: string, body?: object, headers: Write['headers'] = {}): Write => ({
  method,
  path,
  headers: { ...JSON_TYPE, ...headers },
  ...(body !== undefined && { body: JSON.stringify(body) }),
})

function upload(content: string, name = 'a.txt'): Write {
  const form = new FormData()
  form.append('files', new File([content], name))
  return { method: 'POST', path: '/2.0/repositories/acme/pets/downloads', body: form }
}

const R = '/repos/acme/pets'
const P = '/api/v4/projects/4711'

/** Of each list, no receipt of one write serves another. */
const WRITES: Readonly<Record<string, readonly (readonly Write[])[]>> = {
  github: [
    [
      write('PUT', `${R}/branches/main/protection`, { required_pull_request_reviews: {} }),
      write('PUT', `${R}/branches/main/protection`, { required_pull_request_reviews: null }),
      write('PUT', `${R}/branches/main/protection?x=1`, { required_pull_request_reviews: null }),
      write('DELETE', `${R}/branches/main/protection`),
      write('DELETE', `${R}/branches/main/protection?x=1`),
    ],
    [
      write('PUT', `${R}/collaborators/eve`, { permission: 'pull' }),
      write('PUT', `${R}/collaborators/eve`, { permission: 'admin' }),
      write('PUT', `${R}/collaborators/eve`),
    ],
    [
      write('POST', `${R}/actions/runs/1/pending_deployments`, { environment_ids: [1], state: 'approved' }),
      write('POST', `${R}/actions/runs/1/pending_deployments`, { environment_ids: [1, 2], state: 'approved' }),
    ],
    [write('POST', `${R}/never/heard/of`, { a: 1 }), write('POST', `${R}/never/heard/of`, { a: 2 })],
    [write('PATCH', R, { allow_auto_merge: true }), write('PATCH', R, { allow_auto_merge: true, private: false })],
    [
      write('POST', `${R}/pulls/7/reviews`, { event: 'APPROVE', commit_id: 'a'.repeat(40) }),
      write('POST', `${R}/pulls/7/reviews`, { event: 'APPROVE', commit_id: 'b'.repeat(40) }),
    ],
    // GitHub reads JSON whatever type it states.
    ['eve.zip', 'b.zip'].map((name) => ({
      ...write('PATCH', `${R}/releases/assets/1`, { name }),
      headers: { 'content-type': 'application/zip' },
    })),
    [
      {
        method: 'POST',
        path: `${R}/releases/1/assets?name=a.zip`,
        body: 'PK',
        headers: { 'content-type': 'application/zip' },
      },
      {
        method: 'POST',
        path: `${R}/releases/1/assets?name=b.zip`,
        body: 'PK',
        headers: { 'content-type': 'application/zip' },
      },
    ],
  ],
  gitlab: [
    [
      write('POST', `${P}/protected_branches`, { name: 'main', push_access_level: 40 }),
      write('POST', `${P}/protected_branches`, { name: 'main', push_access_level: 0 }),
      write('POST', `${P}/protected_branches`, { name: 'main', push_access_level: 0 }, { sudo: 'root' }),
      write('POST', `${P}/protected_branches`, { name: 'main', push_access_level: 0 }, { sudo: 'eve' }),
      write('POST', `${P}/protected_branches?sudo=root`, { name: 'main', push_access_level: 0 }),
    ],
    [write('POST', `${P}/pipeline`, { ref: 'main' }), write('POST', `${P}/pipeline`, { ref: 'prod' })],
    [
      write('DELETE', `${P}/protected_branches/main`),
      write('DELETE', `${P}/protected_branches/main`, undefined, { sudo: 'root' }),
    ],
  ],
  npm: [
    [
      write('PUT', '/-/org/acme/user', { user: 'eve', role: 'developer' }),
      write('PUT', '/-/org/acme/user', { user: 'eve', role: 'owner' }),
      write('DELETE', '/-/org/acme/user', { user: 'eve', role: 'owner' }),
    ],
    [
      write('PUT', '/-/team/acme/web/package', { package: 'pets', permissions: 'read-only' }),
      write('PUT', '/-/team/acme/web/package', { package: 'pets', permissions: 'read-write' }),
    ],
    [
      write('POST', '/-/package/pets/access', { publish_requires_tfa: true }),
      write('POST', '/-/package/pets/access', { publish_requires_tfa: false }),
    ],
    [
      write('PUT', '/pets/-rev/1-a', { _id: 'pets', _rev: '1-a', maintainers: [{ name: 'eve' }] }),
      write('PUT', '/pets/-rev/1-a', { _id: 'pets', _rev: '1-a', maintainers: [{ name: 'eve' }, { name: 'mallory' }] }),
    ],
  ],
  bitbucket: [
    [upload('one'), upload('two'), upload('one', 'b.txt')],
    [
      write('POST', '/2.0/repositories/acme/pets/pipelines', { target: { ref_name: 'main' } }),
      write('POST', '/2.0/repositories/acme/pets/pipelines', { target: { ref_name: 'prod' } }),
    ],
  ],
}

for (const [protocol, lists] of Object.entries(WRITES))
  suite(`${protocol}: a receipt`, () => {
    for (const list of lists)
      test(`serves this ${list[0]?.method} ${list[0]?.path} and no other`, async (t) => {
        const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
        t.after(() => upstream.close())
        const routes = [{ name: 'scm', match: { path: '/' }, upstream: upstream.origin, protocol }]
        const gateway = await startTestGateway(t, { routes })
        const send = ({ method, path, body, headers }: Write, token?: string): Promise<Response> =>
          fetch(`${gateway.addresses.proxy}${path}`, {
            method,
            headers: { ...headers, ...(token !== undefined && { 'preflight-receipt': token }) },
            ...(body !== undefined && { body }),
          })
        const tokens: string[] = []
        for (const one of list) {
          const refused: unknown = await (await send(one)).json()
          const named = (member: string) => String(at(refused, 'receipt_required', 'context', member))
          tokens.push(await issuedReceipt(gateway, { operation: named('operation'), target_id: named('target_id') }))
        }
        const statuses = await Promise.all(
          list.map((one, index) =>
            Promise.all(tokens.map(async (token, other) => (other === index ? 0 : (await send(one, token)).status))),
          ),
        )
        assert.deepEqual(
          statuses,
          list.map((_, index) => tokens.map((__, other) => (other === index ? 0 : 403))),
        )
        for (const [index, one] of list.entries()) assert.equal((await send(one, tokens[index])).status, 200)
        assert.equal(upstream.requests.filter(({ method }) => method !== 'GET').length, list.length)
      })
  })
