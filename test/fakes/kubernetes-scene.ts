/** A cluster behind the proxy, a client that sends requests through it, and the objects of these requests. */
import type { TestContext } from 'node:test'
import { startFakeCluster, type FakeCluster } from './kubernetes-api.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from './proxy-under-test.ts'

export interface Scene {
  readonly cluster: FakeCluster
  readonly proxy: ProxyUnderTest
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Sent>
}

interface Sent {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

export async function scene(
  t: TestContext,
  kubernetes: object = {},
  options: Partial<ProxyOptions> & { readonly mode?: 'enforce' | 'observe' } = {},
): Promise<Scene> {
  const cluster = await startFakeCluster()
  const { mode = 'enforce' } = options
  const upstream = cluster.origin
  const route = { name: 'cluster', match: { path: '/' }, upstream, protocol: 'kubernetes', kubernetes, mode }
  const proxy = await startProxy({ ...options, routes: [route] })
  t.after(async () => {
    await proxy.close()
    await cluster.close()
  })
  return {
    cluster,
    proxy,
    async send(method, path, body, headers = {}) {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const answer = await fetch(`${proxy.url}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await answer.text()
      const parsed: unknown = text === '' ? null : JSON.parse(text)
      return { status: answer.status, headers: answer.headers, body: parsed }
    },
  }
}

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps'
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments'

export function widgetCrd(properties: object = { size: { type: 'integer' } }): Record<string, unknown> {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
      ],
    },
  }
}

export function deployment(annotations: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', annotations },
    spec: { replicas: 1 },
  }
}

export function configMap(data: object): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'api', namespace: 'shop' }, data }
}

export const OPENAPI = 'openapi: 3.0.3\ninfo: { title: t, version: "1" }\npaths: {}\n'
