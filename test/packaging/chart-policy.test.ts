/** Expressions of the chart's policy and webhooks, evaluated over pods and users as an API server would. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { run as evaluate } from '@bufbuild/cel'
import { parseAllDocuments } from 'yaml'
import { isJsonObject } from '../../gateway/json/strict-json.ts'
import { fetchedTool } from '../fakes/programs.ts'
import { at, listAt, textAt } from '../json.ts'

const CHART = join(import.meta.dirname, '../../charts/preflight-gateway')

async function objectOf(t: TestContext, kind: string, ...settings: readonly string[]): Promise<unknown> {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return null
  const values = ['--values', join(CHART, 'ci/injector-values.yaml'), ...settings]
  const { stdout } = await promisify(execFile)(helm, ['template', 'trial', CHART, ...values])
  const objects = parseAllDocuments(stdout).map((document): unknown => document.toJS())
  return objects.find((object) => at(object, 'kind') === kind)
}

const policy = (t: TestContext, ...settings: readonly string[]): Promise<unknown> =>
  objectOf(t, 'ValidatingAdmissionPolicy', ...settings)

/** The CEL type of a number in a Kubernetes object is int. */
function typed(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value)
  if (Array.isArray(value)) return value.map(typed)
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, typed(member)]))
    : value
}

interface Reviewed {
  readonly operation?: string
  readonly subResource?: string
  readonly spec: object
}

/** Messages of the validations that fail. An expression that cannot be evaluated fails too (failurePolicy: Fail). */
function refusals(found: unknown, { operation = 'CREATE', subResource, spec }: Reviewed): readonly string[] {
  const request = { operation, ...(subResource !== undefined && { subResource }) }
  const scope: Record<string, unknown> = { object: typed({ spec }), request, variables: {} }
  const variables: Record<string, unknown> = {}
  for (const variable of listAt(found, 'spec', 'variables')) {
    variables[textAt(variable, 'name')] = valueOf(textAt(variable, 'expression'), scope)
    scope['variables'] = { ...variables }
  }
  return listAt(found, 'spec', 'validations')
    .filter((validation) => valueOf(textAt(validation, 'expression'), scope) !== true)
    .map((validation) => textAt(validation, 'message'))
}

function valueOf(expression: string, scope: Readonly<Record<string, unknown>>): unknown {
  const value: unknown = Reflect.apply(evaluate, null, [expression, scope])
  assert.ok(typeof value === 'boolean' || typeof value === 'bigint', `${expression}: ${String(value)}`)
  return value
}

const NOT_INJECTED = 'the pod has no Preflight Gateway as its first init container; the injector adds it'
const EXEMPT_USER = 'an ephemeral container must not have the user of the Preflight Gateway'

test('a pod that was injected is admitted, and one that only looks like it is refused', async (t) => {
  const found = await policy(t)
  if (found === null) return
  const [, image] = /\.image == '([^']+)'/.exec(textAt(listAt(found, 'spec', 'validations')[0], 'expression')) ?? []
  assert.ok(image !== undefined)
  const sidecar = { name: 'preflight-gateway', image, restartPolicy: 'Always' }
  const containers = [{ name: 'agent', image: 'agent' }]
  assert.deepEqual(refusals(found, { spec: { initContainers: [sidecar], containers } }), [])
  assert.deepEqual(
    refusals(found, { spec: { initContainers: [sidecar, { name: 'own', image: 'x' }], containers } }),
    [],
  )
  for (const [what, initContainers] of [
    ['none', undefined],
    ['an empty list', []],
    ['another first', [{ name: 'own', image: 'x' }, sidecar]],
    ['another image', [{ ...sidecar, image: 'evil' }]],
    ['one that ends', [{ name: sidecar.name, image }]],
    ['one that restarts on failure', [{ ...sidecar, restartPolicy: 'OnFailure' }]],
  ] as const)
    assert.deepEqual(
      refusals(found, { spec: { containers, ...(initContainers !== undefined && { initContainers }) } }),
      [NOT_INJECTED],
      what,
    )
})

test('a change of a running pod is not asked for the sidecar again', async (t) => {
  const found = await policy(t)
  if (found === null) return
  assert.deepEqual(refusals(found, { operation: 'UPDATE', spec: { containers: [] } }), [])
  assert.deepEqual(refusals(found, { operation: 'CREATE', subResource: '', spec: { containers: [] } }), [NOT_INJECTED])
})

for (const [what, run_as] of [
  ['the default', null],
  ['a large number', 1000660000],
] as const)
  test(`an ephemeral container with the user of the gateway is refused: ${what}`, async (t) => {
    const found = await policy(t, ...(run_as === null ? [] : ['--set', `injector.settings.run_as=${run_as}`]))
    if (found === null) return
    const user = run_as ?? 61337
    const attach = (ephemeral: object, pod: object = {}): readonly string[] =>
      refusals(found, {
        operation: 'UPDATE',
        subResource: 'ephemeralcontainers',
        spec: { ...pod, containers: [], ephemeralContainers: [{ name: 'first' }, { name: 'debug', ...ephemeral }] },
      })
    assert.deepEqual(attach({}), [])
    assert.deepEqual(attach({ securityContext: {} }), [])
    assert.deepEqual(attach({ securityContext: { runAsUser: 1000 } }), [])
    assert.deepEqual(attach({ securityContext: { runAsUser: user } }), [EXEMPT_USER])
    assert.deepEqual(attach({}, { securityContext: { runAsUser: 1000 } }), [])
    assert.deepEqual(attach({}, { securityContext: { runAsUser: user } }), [EXEMPT_USER])
  })

test('the verifier is asked about people and agents, and not about the control plane and the nodes', async (t) => {
  const found = await objectOf(t, 'ValidatingWebhookConfiguration')
  if (found === null) return
  const conditions = listAt(found, 'webhooks', 0, 'matchConditions').map((one) => textAt(one, 'expression'))
  assert.ok(conditions.length > 0)
  const isAsked = (userInfo: object): boolean =>
    conditions.every((expression) => valueOf(expression, { request: { userInfo } }) === true)
  assert.ok(isAsked({ username: 'alice' }))
  assert.ok(isAsked({ username: 'alice', groups: ['system:authenticated'] }))
  assert.ok(isAsked({ username: 'system:serviceaccount:shop:agent', groups: ['system:serviceaccounts:shop'] }))
  assert.ok(!isAsked({ username: 'system:kube-controller-manager' }))
  assert.ok(!isAsked({ username: 'system:node:n1', groups: ['system:nodes'] }))
  assert.ok(!isAsked({ username: 'x', groups: ['system:serviceaccounts:kube-system'] }))
})
