/** Forms with as many fields as fit into a body: no protocol lets such a form go on where its fields count. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { hasTooManyFields } from '../../gateway/routing/query-names.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=x'
const LENGTH = 6_000_000
const PART = '\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x'

const BODIES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  'empty fields': [FORM, '&'.repeat(LENGTH)],
  'fields of one letter': [FORM, 'a&'.repeat(LENGTH / 2)],
  'fields with values': [FORM, 'a=1&'.repeat(LENGTH / 4)],
  'fields behind semicolons': [FORM, 'a;'.repeat(LENGTH / 2)],
  'fields that may name a method': [FORM, '%61&'.repeat(LENGTH / 4)],
  parts: [MULTIPART, `--x${PART.repeat(LENGTH / PART.length)}--\r\n`],
}

const ROUTES: readonly { readonly protocol: string; readonly path: string; readonly settings?: object }[] = [
  { protocol: 'graphql', path: '', settings: { graphql: { introspect: true } } },
  { protocol: 'github', path: '/repos/a/b/issues/1/comments' },
  { protocol: 'gitlab', path: '/api/v4/projects/1/merge_requests' },
  { protocol: 'bitbucket', path: '/2.0/repositories/a/b/pullrequests' },
  { protocol: 'mcp', path: '' },
  { protocol: 'argocd', path: '/api/v1/applications/a/sync' },
  {
    protocol: 'mapped',
    path: '/x',
    settings: {
      map: [
        { when: 'request.method == "DELETE"', action: 'deny' },
        { when: 'request.method == "POST"', action: 'pass' },
      ],
    },
  },
]

function send(url: string, type: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: false, headers: { 'content-type': type } }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test('no such form goes on', { timeout: 180_000 }, async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const routes = ROUTES.map(({ protocol, settings }) => ({
    name: protocol,
    match: { path: `/${protocol}` },
    upstream: upstream.origin,
    protocol,
    ...settings,
  }))
  const gateway = await startTestGateway(t, { routes })
  const wrong: string[] = []
  for (const { protocol, path } of ROUTES) {
    const url = `${gateway.addresses.proxy}/${protocol}${path}`
    for (const [what, [type, body]] of Object.entries(BODIES)) {
      const status = await send(url, type, body)
      // Only what may name a method counts on this route.
      const mayGoOn = protocol === 'mapped' && !body.includes('%')
      if (status < 400 && !mayGoOn) wrong.push(`${protocol}, ${what}: ${status}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('fields are counted by each separator', () => {
  for (const separator of ['&', ';']) {
    assert.equal(hasTooManyFields(`a${separator}`.repeat(10_000)), false)
    assert.equal(hasTooManyFields(`a${separator}`.repeat(10_001)), true)
  }
})
