/** The injector: reviews of pods in, patched pods out. Each patch is applied by a library, and each pod checked against the API's types. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { applyPatch, type Operation } from 'rfc6902'
import { openSettings } from '../../../gateway/config/live-settings.ts'
import { injectionResponse } from '../../../gateway/kubernetes/injector.ts'
import { readReview, type ReviewResponse } from '../../../gateway/kubernetes/review.ts'
import { TRAFFIC_MODES, type InjectorSettings } from '../../../gateway/kubernetes/settings.ts'
import { admissionReview, POD, sendReview } from '../../fakes/admission-review.ts'
import { testAuthority } from '../../fakes/certificates.ts'
import { run } from '../../fakes/command-io.ts'
import { FREE_PORTS, startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { typeFaults } from '../../fakes/kubernetes-types.ts'
import { at, listAt, textAt, textsAt } from '../../json.ts'

const WEBHOOKS = { webhooks: '127.0.0.1:0' }

async function leafFiles(t: TestContext) {
  const authority = await testAuthority()
  const directory = mkdtempSync(join(tmpdir(), 'preflight-injector-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const { cert, key } = await authority.leaf('127.0.0.1')
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
  writeFileSync(files.certificate, cert)
  writeFileSync(files.key, key)
  return { ca: authority.certificate, files }
}

/** The settings with their defaults, as the gateway has them. */
async function settingsOf(t: TestContext, injector: object = {}): Promise<InjectorSettings> {
  const { files } = await leafFiles(t)
  const value = {
    listen: WEBHOOKS,
    tls: { listeners: { webhooks: files } },
    injector: { image: 'preflight:1', ...injector },
  }
  const found = openSettings({ value, environment: {} }).current().config.injector
  assert.ok(found !== undefined)
  return found
}

interface PodMembers {
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: object
}

const AGENT = { name: 'agent', image: 'agent:1', env: [{ name: 'HOME', value: '/tmp' }] }

function pod({ annotations = {}, spec = {} }: PodMembers = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent', namespace: 'agents', annotations },
    spec: { initContainers: [{ name: 'prepare', image: 'agent:1' }], containers: [AGENT], ...spec },
  }
}

function review(object: object, settings: InjectorSettings, namespace = 'agents'): ReviewResponse {
  const read = readReview(
    admissionReview({
      of: POD,
      name: 'agent',
      namespace,
      object: { ...object, metadata: { ...Object(at(object, 'metadata')), namespace } },
    }),
  )
  assert.ok(read.ok)
  return injectionResponse(read.request, settings)
}

function patched(object: object, settings: InjectorSettings): object {
  const response = review(object, settings)
  assert.equal(response.allowed, true, JSON.stringify(response.status))
  const copy: object = structuredClone(object)
  if (response.patch === undefined) return copy
  assert.equal(response.patchType, 'JSONPatch')
  const operations: Operation[] = JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8'))
  assert.deepEqual(
    applyPatch(copy, operations).filter((fault) => fault !== null),
    [],
  )
  assert.deepEqual(typeFaults(copy), [], 'the API server takes the pod')
  return copy
}

const containerNamed = (object: object, name: string): unknown =>
  [...listAt(object, 'spec', 'initContainers'), ...listAt(object, 'spec', 'containers')].find(
    (one) => at(one, 'name') === name,
  )

const variable = (container: unknown, name: string): unknown =>
  at(
    listAt(container, 'env').find((entry) => at(entry, 'name') === name),
    'value',
  )

test('the sidecar is the first init container, and the proof of the redirection ends before the pod’s own begin', async (t) => {
  const injected = patched(pod(), await settingsOf(t))
  const names = listAt(injected, 'spec', 'initContainers').map((one) => at(one, 'name'))
  assert.deepEqual(names, ['preflight-gateway', 'preflight-redirect', 'preflight-redirect-check', 'prepare'])
  const sidecar = containerNamed(injected, 'preflight-gateway')
  assert.equal(at(sidecar, 'restartPolicy'), 'Always', 'a native sidecar: Jobs complete')
  assert.equal(at(sidecar, 'startupProbe', 'httpGet', 'path'), '/readyz')
  assert.equal(at(sidecar, 'securityContext', 'runAsUser'), 61_337)
  assert.equal(at(sidecar, 'securityContext', 'readOnlyRootFilesystem'), true)
  assert.deepEqual(at(sidecar, 'securityContext', 'capabilities'), { drop: ['ALL'] })
  assert.equal(variable(sidecar, 'PREFLIGHT_LISTEN_TRANSPARENT'), '127.0.0.1:15001')
  assert.deepEqual(at(containerNamed(injected, 'preflight-redirect'), 'securityContext', 'capabilities'), {
    drop: ['ALL'],
    add: ['NET_ADMIN', 'NET_RAW'],
  })
  assert.notEqual(at(containerNamed(injected, 'preflight-redirect-check'), 'securityContext', 'runAsUser'), 61_337)
  assert.deepEqual(JSON.parse(textAt(injected, 'metadata', 'annotations', 'preflight.dev/status')), {
    mode: 'transparent',
    tier: 'sidecar',
    config: 'preflight-sidecar',
    sidecar: 'preflight-gateway',
  })
})

for (const mode of TRAFFIC_MODES)
  test(`the decisions of the sidecar state the mode that the annotation of its pod states: ${mode}`, async (t) => {
    const injected = patched(pod({ annotations: { 'preflight.dev/mode': mode } }), await settingsOf(t))
    const status = textAt(injected, 'metadata', 'annotations', 'preflight.dev/status')
    const variables = listAt(containerNamed(injected, 'preflight-gateway'), 'env').map(
      (entry) => [textAt(entry, 'name'), textAt(entry, 'value')] as const,
    )
    // As in the pod, but with free ports and without the files of its volumes.
    const environment = Object.fromEntries(
      variables
        .filter(([name]) => name === 'PREFLIGHT_TIER' || name.includes('LISTEN'))
        .map(([name, value]) => [name, value.replace(/:\d+$/, ':0').replace('0.0.0.0', '127.0.0.1')]),
    )
    const gateway = await startTestGateway(t, {}, { environment })
    const answer = await fetch(`${gateway.addresses.api}/api/v1/preflight`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        preflight_mode: 'authorize',
        artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
        context: { operation: 'tool_call' },
      }),
    })
    const enforcement = at(await answer.json(), 'control_envelope', 'enforcement')
    assert.deepEqual(enforcement, { mode: 'enforce', tier: 'sidecar', traffic: at(JSON.parse(status), 'mode') })
  })

test('agents trust the bundle that the sidecar writes to memory, by every client’s variable', async (t) => {
  const injected = patched(pod(), await settingsOf(t))
  for (const name of ['agent', 'prepare']) {
    const container = containerNamed(injected, name)
    for (const known of [
      'SSL_CERT_FILE',
      'NODE_EXTRA_CA_CERTS',
      'REQUESTS_CA_BUNDLE',
      'CURL_CA_BUNDLE',
      'GIT_SSL_CAINFO',
      'AWS_CA_BUNDLE',
      'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
    ])
      assert.equal(variable(container, known), '/etc/preflight/ca/bundle.pem', known)
    const mount = listAt(container, 'volumeMounts').find((one) => at(one, 'name') === 'preflight-ca')
    assert.equal(at(mount, 'readOnly'), true)
    assert.equal(variable(container, 'HTTPS_PROXY'), undefined, 'redirected connections need no proxy')
  }
  assert.equal(variable(containerNamed(injected, 'agent'), 'HOME'), '/tmp')
  const volume = listAt(injected, 'spec', 'volumes').find((one) => at(one, 'name') === 'preflight-ca')
  assert.equal(at(volume, 'emptyDir', 'medium'), 'Memory')
  assert.equal(
    variable(containerNamed(injected, 'preflight-gateway'), 'PREFLIGHT_TLS_BUNDLE_FILE'),
    '/etc/preflight/ca/bundle.pem',
  )
})

test('the arguments that the injector writes are understood by the command that they are for', async (t) => {
  const annotations = {
    'preflight.dev/include-ports': '80,443,8000-8010',
    'preflight.dev/exclude-ports': '5432',
    'preflight.dev/include-cidrs': '0.0.0.0/0,::/0',
    'preflight.dev/exclude-cidrs': '10.0.0.0/8',
  }
  const injected = patched(pod({ annotations }), await settingsOf(t, { ipv6: 'redirect' }))
  const [, action, ...options] = listAt(containerNamed(injected, 'preflight-redirect'), 'args').map(String)
  assert.equal(action, 'apply')
  const { code, stdout, stderr } = await run(['redirect', 'rules', ...options])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /-d 0\.0\.0\.0\/0 -p tcp -m multiport --dports 80,443,8000:8010 -j REDIRECT --to-ports 15001/)
  assert.match(stdout, /-d ::\/0 -p tcp .* -j REDIRECT/)
  assert.match(stdout, /-d 10\.0\.0\.0\/8 -j RETURN/)
  assert.match(stdout, /--dports 5432 -j RETURN/)
  assert.equal(variable(containerNamed(injected, 'preflight-gateway'), 'PREFLIGHT_LISTEN_TRANSPARENT'), '[::]:15001')
})

test('explicit mode names the proxy and the base addresses, and needs no capability', async (t) => {
  const annotations = {
    'preflight.dev/mode': 'explicit',
    'preflight.dev/base-urls': 'OPENAI_BASE_URL=/openai, TOOLS_URL=/tools',
    'preflight.dev/no-proxy': '.internal.example',
    'preflight.dev/exclude-containers': 'prepare',
    'preflight.dev/config': 'my-config',
    'preflight.dev/sidecar-memory': '200Mi',
  }
  const injected = patched(pod({ annotations }), await settingsOf(t))
  const names = listAt(injected, 'spec', 'initContainers').map((one) => at(one, 'name'))
  assert.deepEqual(names, ['preflight-gateway', 'prepare'])
  const agent = containerNamed(injected, 'agent')
  assert.equal(variable(agent, 'HTTPS_PROXY'), 'http://127.0.0.1:15080')
  assert.equal(variable(agent, 'no_proxy'), 'localhost,127.0.0.1,::1,.internal.example')
  assert.equal(variable(agent, 'OPENAI_BASE_URL'), 'http://127.0.0.1:15080/openai')
  assert.equal(at(containerNamed(injected, 'prepare'), 'env'), undefined)
  const volume = listAt(injected, 'spec', 'volumes').find((one) => at(one, 'name') === 'preflight-config')
  assert.equal(at(volume, 'configMap', 'name'), 'my-config')
  assert.equal(at(containerNamed(injected, 'preflight-gateway'), 'resources', 'requests', 'memory'), '200Mi')
})

test('with a hub, the sidecar alone gets its address and a token for it', async (t) => {
  const settings = await settingsOf(t, { hub: { url: 'https://preflight-hub.preflight.svc:15444' } })
  const thief = { ...AGENT, volumeMounts: [{ name: 'preflight-hub-token', mountPath: '/stolen' }] }
  const injected = patched(pod({ spec: { containers: [thief] } }), settings)
  const sidecar = containerNamed(injected, 'preflight-gateway')
  assert.equal(variable(sidecar, 'PREFLIGHT_STORE_URL'), 'https://preflight-hub.preflight.svc:15444')
  assert.equal(variable(sidecar, 'PREFLIGHT_STORE_HUB_TOKEN_FILE'), '/var/run/secrets/preflight/token')
  const volume = listAt(injected, 'spec', 'volumes').find((one) => at(one, 'name') === 'preflight-hub-token')
  assert.deepEqual(at(volume, 'projected', 'sources', 0, 'serviceAccountToken'), {
    path: 'token',
    audience: 'preflight-hub',
    expirationSeconds: 600,
  })
  const mounting = [...listAt(injected, 'spec', 'initContainers'), ...listAt(injected, 'spec', 'containers')].filter(
    (container) => JSON.stringify(at(container, 'volumeMounts') ?? []).includes('preflight-hub-token'),
  )
  assert.deepEqual(
    mounting.map((container) => at(container, 'name')),
    ['preflight-gateway'],
  )
  assert.deepEqual(patched(injected, settings), injected, 'injecting again changes nothing')
})

test('a pod that was injected is left as it is, and one that others changed meanwhile is completed', async (t) => {
  const settings = await settingsOf(t)
  const injected = patched(pod(), settings)
  assert.equal(review(injected, settings).patch, undefined, 'idempotent')
  const changed: object = structuredClone(injected)
  const logger = { name: 'logger', image: 'logger:1' }
  const operations: Operation[] = [
    { op: 'add', path: '/spec/containers/-', value: logger },
    { op: 'add', path: '/spec/initContainers/0', value: { name: 'mesh', image: 'mesh:1' } },
  ]
  applyPatch(changed, operations)
  const again = patched(changed, settings)
  assert.equal(variable(containerNamed(again, 'logger'), 'SSL_CERT_FILE'), '/etc/preflight/ca/bundle.pem')
  assert.equal(at(again, 'spec', 'initContainers', 0, 'name'), 'preflight-gateway', 'first again')
  assert.equal(review(again, settings).patch, undefined)
})

test('a container that pretends to be the sidecar is replaced', async (t) => {
  const disguised = { ...AGENT, name: 'preflight-agent', securityContext: { runAsUser: 61_337 } }
  assert.equal(review(pod({ spec: { containers: [disguised] } }), await settingsOf(t)).allowed, false)
  const forged = pod({
    annotations: { 'preflight.dev/status': '{}' },
    spec: { initContainers: [{ name: 'preflight-gateway', image: 'evil:1', restartPolicy: 'Always' }] },
  })
  const injected = patched(forged, await settingsOf(t))
  assert.equal(at(containerNamed(injected, 'preflight-gateway'), 'image'), 'preflight:1')
  assert.deepEqual(
    textsAt(listAt(injected, 'spec', 'initContainers'), 'name').filter((name) => name === 'preflight-gateway').length,
    1,
  )
})

test('what is not understood, or would make the sidecar useless, is refused', async (t) => {
  const settings = await settingsOf(t)
  const cases: readonly (readonly [PodMembers, RegExp])[] = [
    [{ annotations: { 'preflight.dev/inculde-ports': '80' } }, /did you mean preflight\.dev\/include-ports\?/],
    [{ annotations: { 'preflight.dev/mode': 'none' } }, /mode is "none"; this cluster allows transparent, explicit/],
    [{ annotations: { 'preflight.dev/inject': 'maybe' } }, /write "true" or "false"/],
    [{ annotations: { 'preflight.dev/inject': 'false' } }, /does not let pods opt out/],
    [
      { annotations: { 'preflight.dev/include-ports': '80,http' } },
      /"http" is not a port or a range: write 80 or 8000-8010/,
    ],
    [{ annotations: { 'preflight.dev/exclude-ports': '0' } }, /"0" is not a port or a range/],
    [
      { annotations: { 'preflight.dev/exclude-cidrs': '10.0.0.0/99' } },
      /"10\.0\.0\.0\/99" is not an address or a network: write/,
    ],
    [{ annotations: { 'preflight.dev/include-cidrs': 'db' } }, /"db" is not an address or a network: write/],
    [{ annotations: { 'preflight.dev/base-urls': 'A=http://other' } }, /is not a variable and a path: write/],
    [{ annotations: { 'preflight.dev/no-proxy': 'a@b' } }, /"a@b" is not a host: write/],
    [{ annotations: { 'preflight.dev/config': 'A' } }, /"A" is not the name of a ConfigMap/],
    ...['cpu', 'memory', 'memory-limit'].map((name): readonly [PodMembers, RegExp] => [
      { annotations: { [`preflight.dev/sidecar-${name}`]: 'much' } },
      /"much" is not a quantity: write 100m or 128Mi/,
    ]),
    [{ spec: { hostNetwork: true } }, /network of its node/],
    [{ spec: { securityContext: { runAsUser: 61_337 } } }, /the pod has the user 61337/],
    [{ spec: { containers: [{ ...AGENT, securityContext: { runAsUser: 61_337 } }] } }, /container agent has the user/],
  ]
  for (const [members, expected] of cases) {
    const { allowed, status } = review(pod(members), settings)
    assert.equal(allowed, false, JSON.stringify(members))
    assert.match(status?.message ?? '', expected)
  }
})

test('the platform’s owner decides which modes there are', async (t) => {
  const only = await settingsOf(t, { mode: 'explicit', allowed_modes: ['explicit'], run_as: 'namespace' })
  assert.equal(review(pod({ annotations: { 'preflight.dev/mode': 'transparent' } }), only).allowed, false)
  const injected = patched(pod(), only)
  assert.equal(at(containerNamed(injected, 'preflight-gateway'), 'securityContext', 'runAsUser'), undefined)
  const free = await settingsOf(t, { opt_out: true })
  assert.deepEqual(Object.keys(review(pod({ annotations: { 'preflight.dev/inject': 'false' } }), free)), [
    'uid',
    'allowed',
  ])
  await assert.rejects(settingsOf(t, { run_as: 'namespace' }), /needs a known user/)
  await assert.rejects(
    settingsOf(t, { mode: 'transparent', allowed_modes: ['explicit'] }),
    /is not one of allowed_modes/,
  )
})

test('the namespaces of the cluster and of the gateway are never injected', async (t) => {
  const settings = await settingsOf(t, { ignored_namespaces: ['preflight-system'] })
  for (const namespace of ['kube-system', 'kube-public', 'kube-node-lease', 'preflight-system'])
    assert.equal(review(pod(), settings, namespace).patch, undefined, namespace)
})

test('variables that the author set stay, and the author is warned', async (t) => {
  const spec = {
    containers: [
      { ...AGENT, env: [{ name: 'SSL_CERT_FILE', value: '/own.pem' }], securityContext: { privileged: true } },
    ],
  }
  const settings = await settingsOf(t)
  const { warnings = [] } = review(pod({ spec }), settings)
  assert.equal(variable(containerNamed(patched(pod({ spec }), settings), 'agent'), 'SSL_CERT_FILE'), '/own.pem')
  assert.match(warnings.join('\n'), /container agent sets SSL_CERT_FILE itself/)
  assert.match(warnings.join('\n'), /container agent may change the network of the pod/)
})

test('a container that could go around the gateway gets a warning', async (t) => {
  const settings = await settingsOf(t)
  const warningsOf = (securityContext: object): readonly string[] =>
    review(pod({ spec: { containers: [{ ...AGENT, securityContext }] } }), settings).warnings ?? []
  for (const name of ['NET_ADMIN', 'NET_RAW', 'ALL'])
    assert.match(warningsOf({ capabilities: { add: ['CHOWN', name] } }).join('\n'), /so bypass the gateway/, name)
  for (const harmless of [{}, { capabilities: { drop: ['ALL'] } }, { capabilities: { add: ['CHOWN'] } }])
    assert.deepEqual(warningsOf(harmless), [])
})

test('the API server gets the patch over TLS, at /injector', async (t) => {
  const { ca, files } = await leafFiles(t)
  const gateway = await startTestGateway(t, {
    listen: { ...FREE_PORTS, ...WEBHOOKS },
    tls: { listeners: { webhooks: files } },
    injector: { image: 'preflight:1' },
  })
  const answer = await sendReview(
    `${gateway.addresses.webhooks ?? ''}/injector?timeout=5s`,
    ca,
    admissionReview({
      of: POD,
      namespace: 'agents',
      object: { metadata: { generateName: 'agent-' }, spec: { containers: [AGENT] } },
    }),
  )
  assert.equal(answer.status, 200)
  assert.equal(at(answer.body, 'response', 'patchType'), 'JSONPatch')
  const metrics = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
  assert.match(metrics, /^preflight_admission_reviews_total\{webhook="injector",result="allowed"\} 1/m)
})
