/** Calls that say they are gRPC, whatever they are: a refusal stays one, in a form that such a client reads, and is no fault of the gateway. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

for (const [protocol, path] of [
  ['argocd', '/application.ApplicationService/Sync'],
  ['argocd', '/api/v1/applications'],
  ['github', '/acme/pets.git/git-receive-pack'],
  ['github', '/repos/acme/pets/contents/openapi.yaml'],
  ['gitlab', '/api/graphql'],
  ['bitbucket', '/2.0/repositories/acme/pets/src'],
  ['kubernetes', '/apis/apps/v1/namespaces/shop/deployments'],
  ['npm', '/pets'],
  ['llm', '/v1/chat/completions'],
  ['mcp_registry', '/v0/publish'],
  ['mcp', '/'],
  ['mapped', '/x'],
] as const) {
  test(`${protocol}: ${path} by application/grpc is refused, and not by a fault`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    const map = [{ when: "request.body.a == 'b'", action: 'deny' }]
    const proxy = await startProxy({
      routes: [
        {
          name: 'it',
          match: { path: '/' },
          upstream: upstream.origin,
          protocol,
          ...(protocol === 'mapped' && { map }),
        },
      ],
    })
    t.after(async () => {
      await proxy.close()
      await upstream.close()
    })
    for (const body of ['{', '\0\0\0\0\x05hello', 'mutation { mergeRequestAccept { x } }']) {
      const answer = await fetch(proxy.url + path, {
        method: 'PUT',
        headers: { 'content-type': 'application/grpc' },
        body,
      })
      await answer.text()
      assert.equal(answer.status, 200)
      assert.match(answer.headers.get('grpc-status') ?? '', /^(?:[1-9]|1[0-6])$/)
      assert.notEqual(answer.headers.get('grpc-status'), '13', 'INTERNAL')
    }
    assert.doesNotMatch(proxy.log.join(''), /proxy.request_failed/)
    assert.deepEqual(
      upstream.requests.filter(({ method }) => method !== 'GET'),
      [],
    )
  })
}
