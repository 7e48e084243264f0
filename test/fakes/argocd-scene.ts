/** Argo CD behind a route, and calls to it as its clients send them. */
import type { TestContext } from 'node:test'
import { startHttpUpstream, type HttpUpstream } from './http-upstream.ts'
import { startRoad, type Road } from './road.ts'

export interface ArgocdScene {
  readonly upstream: HttpUpstream
  readonly road: Road
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
  const road = await startRoad({
    routes: [{ name: 'argocd', match: { path: '/' }, upstream: upstream.origin, protocol: 'argocd', ...route }],
  })
  t.after(async () => {
    await road.close()
    await upstream.close()
  })
  return {
    upstream,
    road,
    send: (method, path, body, headers = { 'content-type': 'application/json' }) =>
      fetch(`${road.url}${path}`, {
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
