/** Argo CD behind a route, and calls to it as its clients send them. */
import type { TestContext } from 'node:test'
import { startHttpUpstream, type HttpUpstream } from './http-upstream.ts'
import { startProxy, type ProxyUnderTest } from './proxy-under-test.ts'

export interface ArgocdScene {
  readonly upstream: HttpUpstream
  readonly proxy: ProxyUnderTest
  readonly send: (
    method: string,
    path: string,
    body?: Body,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>
}

type Body = object | Uint8Array<ArrayBuffer> | string

export async function argocdScene(t: TestContext, route: object = {}): Promise<ArgocdScene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  const proxy = await startProxy({
    routes: [{ name: 'argocd', match: { path: '/' }, upstream: upstream.origin, protocol: 'argocd', ...route }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return {
    upstream,
    proxy,
    send: (method, path, body, headers = { 'content-type': 'application/json' }) =>
      fetch(`${proxy.url}${path}`, {
        method,
        headers,
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
      }),
  }
}

/** An application, as far as the calls need one. */
export const APP = { metadata: { name: 'shop', namespace: 'team' }, spec: {} }
