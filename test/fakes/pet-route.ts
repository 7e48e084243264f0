/** A whole gateway before a plain upstream whose contract a test can change, and the questions that an agent and an approver ask of it. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { at, textAt } from '../json.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from './gateway.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from './http-upstream.ts'

/** target_id of the calls to GET /pets, and id of the artifact that they are judged on. */
export const LIST_PETS = 'pets/GET /pets'

export interface PetRoute {
  readonly gateway: TestGateway
  readonly upstream: HttpUpstream
  readonly call: (init?: RequestInit) => Promise<Response>
  /** With the bootstrap key, an admin's. */
  readonly api: (
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ) => Promise<{ readonly status: number; readonly body: unknown }>
  /** Changes what the upstream offers. */
  readonly change: (edit: (paths: Record<string, unknown>) => void) => void
  /** An authorize preflight of the calls to GET /pets as they would be judged now; what is given differs from that. */
  readonly preflight: (
    context?: object,
    sides?: { readonly before?: string; readonly after?: string },
  ) => Promise<unknown>
  /** Token of such a preflight. */
  readonly receipt: (context?: object) => Promise<string>
}

/** @param config members of the configuration besides the route */
export async function startPetRoute(t: TestContext, route: object = {}, config: object = {}): Promise<PetRoute> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const baseline = petContract()
  const current = petContract()
  const gateway = await startTestGateway(t, {
    ...config,
    routes: [
      {
        name: 'pets',
        match: { path: '/' },
        upstream: `${upstream.origin}/v1`,
        protocol: 'http',
        environment: 'prod',
        contract: { baseline: { file: baseline }, current: { file: current }, refresh: 0 },
        ...route,
      },
    ],
  })
  t.after(() => upstream.close())
  const api: PetRoute['api'] = async (method, path, body, key = TEST_KEY) => {
    const answer = await fetch(gateway.addresses.api + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const parsed: unknown = await answer.json()
    return { status: answer.status, body: parsed }
  }
  const preflight: PetRoute['preflight'] = async (context = {}, sides = {}) => {
    const { before = readFileSync(baseline, 'utf8'), after = readFileSync(current, 'utf8') } = sides
    const { body } = await api('POST', '/api/v1/preflight', {
      preflight_mode: 'authorize',
      artifacts: [{ id: LIST_PETS, type: 'openapi', before, after }],
      context: { operation: 'tool_call', environment: 'prod', target_id: LIST_PETS, ...context },
    })
    return body
  }
  return {
    gateway,
    upstream,
    api,
    preflight,
    call: (init = {}) => fetch(`${gateway.addresses.proxy}/pets`, init),
    change: (edit) => {
      const document: unknown = JSON.parse(readFileSync(current, 'utf8'))
      const paths = at(document, 'paths')
      if (typeof paths !== 'object' || paths === null) throw new Error('the contract has no paths')
      const edited = { ...paths }
      edit(edited)
      writeFileSync(current, JSON.stringify({ ...Object(document), paths: edited }))
    },
    receipt: async (context = {}) => textAt(await preflight(context), 'chain_receipt'),
  }
}

/** GET /pets wants a parameter that nobody sends: a breaking change of that operation. */
export function breakListing(paths: Record<string, unknown>): void {
  const parameters = [{ name: 'shop', in: 'query', required: true, schema: { type: 'string' } }]
  paths['/pets'] = { ...Object(paths['/pets']), get: { ...Object(at(paths['/pets'], 'get')), parameters } }
}
