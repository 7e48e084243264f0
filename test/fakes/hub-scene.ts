/**
 * Hubs and sidecars on loopback: real gateways, with service account tokens of a stand-in cluster. One cluster serves a file of
 * tests.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import { startGateway, type Gateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { devNull, FREE_PORTS, TEST_KEY } from './gateway.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from './http-upstream.ts'
import { textAt } from '../json.ts'

export const ISSUER = 'https://kubernetes.test'

export interface TokenChanges {
  readonly key?: CryptoKey
  readonly audience?: string
  readonly issuer?: string
  readonly life?: string
  readonly claims?: object
}

export interface HubScene {
  gateway: Gateway
  readonly data: string
  readonly url: string
}

export interface SidecarScene {
  readonly gateway: Gateway
  call(path?: string): Promise<number>
}

interface SidecarOptions {
  readonly contract?: string
  readonly namespace?: string
  readonly access?: object
  readonly route?: object
  /** Further settings. */
  readonly settings?: object
}

/** What ends with a test, or with several. */
interface Ending {
  after(end: () => unknown): void
}

export interface HubCluster {
  /** A folder that ends with the cluster. */
  readonly root: string
  readonly upstream: HttpUpstream
  folder(): string
  token(namespace: string, changes?: TokenChanges): Promise<string>
  hubConfig(address: string, data: string, hub?: object): object
  /** @param settings further settings, e.g. its store */
  startHub(t: Ending, hub?: object, settings?: object): Promise<HubScene>
  startSidecar(t: TestContext, url: string, options?: SidecarOptions): Promise<SidecarScene>
  close(): Promise<void>
}

export async function startHubCluster(): Promise<HubCluster> {
  const root = mkdtempSync(join(tmpdir(), 'preflight-hub-'))
  const pair = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'cluster', alg: 'ES256', use: 'sig' }
  writeFileSync(join(root, 'cluster.json'), JSON.stringify({ keys: [jwk] }))
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  let pods = 0
  let folders = 0
  const folder = (): string => join(root, `data-${(folders += 1)}`)
  const token = (namespace: string, changes: TokenChanges = {}): Promise<string> => {
    pods += 1
    const kubernetes = {
      namespace,
      serviceaccount: { name: 'agent', uid: 'u' },
      pod: { name: `pod-${pods}`, uid: `uid-${pods}` },
    }
    return new SignJWT({ 'kubernetes.io': kubernetes, ...changes.claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'cluster' })
      .setIssuer(changes.issuer ?? ISSUER)
      .setSubject(`system:serviceaccount:${namespace}:agent`)
      .setAudience(changes.audience ?? 'preflight-hub')
      .setExpirationTime(changes.life ?? '10m')
      .sign(changes.key ?? pair.privateKey)
  }
  const hubConfig = (address: string, data: string, hub: object = {}): object => {
    const tokens = { issuer: ISSUER, keys: join(root, 'cluster.json') }
    return { listen: { ...FREE_PORTS, hub: address }, data_dir: data, hub: { tokens, ...hub } }
  }
  return {
    root,
    upstream,
    folder,
    token,
    hubConfig,
    async startHub(t, hub = {}, settings = {}) {
      const data = folder()
      const gateway = await startSilently({ ...hubConfig('127.0.0.1:0', data, hub), ...settings })
      const url = gateway.addresses.hub ?? assert.fail('the hub listens')
      const scene = { gateway, data, url }
      t.after(() => scene.gateway.close())
      return scene
    },
    async startSidecar(
      t,
      url,
      { contract = petContract(), namespace = 'team-a', access = {}, route = {}, settings = {} } = {},
    ) {
      const file = join(root, `token-${(pods += 1)}`)
      writeFileSync(file, await token(namespace))
      const gateway = await startSilently({
        listen: FREE_PORTS,
        data_dir: folder(),
        // A machine that does much else answers late.
        store: { url, hub: { token_file: file, timeout: 20, ...access } },
        routes: [
          {
            name: 'pets',
            match: { path: '/' },
            upstream: `${upstream.origin}/v1`,
            protocol: 'http',
            contract: { current: { file: contract }, refresh: 0 },
            ...route,
          },
        ],
        ...settings,
      })
      t.after(() => gateway.close())
      return { gateway, call: async (path = '/pets') => (await fetch(gateway.addresses.proxy + path)).status }
    },
    async close() {
      await upstream.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

export function startSilently(value: object): Promise<Gateway> {
  const options = { output: devNull(), logger: createLogger('silent') }
  return startGateway({ value, environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY } }, options)
}

/** The contract of pets, with a change that breaks callers. */
export function changedContract(): string {
  const file = petContract()
  const contract: { paths: Record<string, Record<string, { parameters?: unknown[] }>> } = JSON.parse(
    readFileSync(file, 'utf8'),
  )
  for (const item of Object.values(contract.paths))
    for (const operation of Object.values(item))
      operation.parameters = [{ name: 'needed', in: 'query', required: true, schema: { type: 'string' } }]
  writeFileSync(file, JSON.stringify(contract))
  return file
}

/** An API key of a tenant, made at the hub. */
export function keyOf({ gateway }: Pick<HubScene, 'gateway'>, role: string, tenant: string): Promise<string> {
  return keyAt(gateway.addresses.api, role, tenant)
}

/** The same at the address of an API. */
export async function keyAt(origin: string, role: string, tenant: string): Promise<string> {
  const answer = await postTo(origin, '/api/v1/keys', TEST_KEY, { name: role, role, tenant })
  return textAt(await answer.json(), 'api_key')
}

export function postTo(origin: string, path: string, key: string, body: object): Promise<Response> {
  return fetch(origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

export async function api(
  { gateway }: Pick<HubScene, 'gateway'>,
  path: string,
  key: string,
  body?: object,
): Promise<unknown> {
  const { api: origin } = gateway.addresses
  const answer =
    body === undefined
      ? await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } })
      : await postTo(origin, path, key, body)
  return answer.json()
}

/** A request to the hub listener. */
export async function ask(url: string, path: string, credential: string | null, body?: object) {
  const answer = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const parsed: unknown = await answer.json()
  return { status: answer.status, body: parsed }
}

export const operate = (url: string, name: string, credential: string, ...values: unknown[]) =>
  ask(url, `/hub/v1/operations/${name}`, credential, { values })
