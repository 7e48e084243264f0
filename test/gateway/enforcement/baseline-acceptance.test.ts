/** How a contract that calls for an approval becomes a baseline: as an approval is given, and by no other way. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { breakListing, LIST_PETS, startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { writtenRoutes } from '../../fakes/written-routes.ts'
import { at, listAt, textAt } from '../../json.ts'

const GROUPS = { breaking: "finding.level == 'breaking'", register: "context.operation == 'register'" }

/** As the default pack, with a group that has to accept what breaks, and calls that wait instead of being stopped. */
function packOf(t: TestContext, rules: readonly object[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-pack-'))
  const file = join(directory, 'pack.yaml')
  const pack = {
    apiVersion: 'preflight.dev/v1',
    kind: 'Policy',
    metadata: { name: 'test' },
    on_incomplete: 'BLOCK',
    rules,
  }
  writeFileSync(file, JSON.stringify(pack))
  t.diagnostic(file)
  return file
}

const accepted = (approvers: readonly string[] = []): object => ({
  id: 'accepted',
  when: `${GROUPS.breaking} && ${GROUPS.register}`,
  then: 'REQUIRE_APPROVAL',
  ...(approvers.length > 0 && { approvers }),
})
const held = (approvers: readonly string[] = []): object => ({
  id: 'held',
  when: `${GROUPS.breaking} && context.operation == 'tool_call'`,
  then: 'REQUIRE_APPROVAL',
  ...(approvers.length > 0 && { approvers }),
})

interface Broken extends PetRoute {
  readonly digest: string
  readonly key: (role: string, groups?: string) => Promise<string>
  readonly promote: (body: object, key?: string) => Promise<{ readonly status: number; readonly body: unknown }>
  readonly isPromoted: () => Promise<boolean>
  readonly cli: (...args: readonly string[]) => ReturnType<typeof run>
}

/** A route whose upstream offers a contract that breaks GET /pets, called once. */
async function broken(t: TestContext, config: object = {}, route: object = {}): Promise<Broken> {
  const pets = await startPetRoute(t, route, config)
  await pets.call()
  pets.change(breakListing)
  const call = pets.call()
  await until(
    async () => at((await pets.api('GET', '/api/v1/baselines/pets')).body, 'candidate') !== null,
    'it is seen',
  )
  await call
  const { body } = await pets.api('GET', '/api/v1/baselines/pets')
  const digest = textAt(body, 'candidate', 'digest')
  const directory = mkdtempSync(join(tmpdir(), 'preflight-accept-'))
  const file = join(directory, 'preflight.json')
  const { routes } = pets.gateway.settings().config
  writeFileSync(file, JSON.stringify({ data_dir: pets.gateway.dataDir, ...config, routes: writtenRoutes(routes) }))
  const cli = (...args: readonly string[]) => run([...args, '--config', file])
  return {
    ...pets,
    digest,
    cli,
    key: async (role, groups) => {
      const made = await cli(
        'keys',
        'create',
        '--name',
        role,
        '--role',
        role,
        ...(groups === undefined ? [] : ['--groups', groups]),
      )
      const key = /pf_(?:live|test)_[\w-]+/.exec(made.stdout)?.[0]
      assert.ok(key, made.stderr)
      return key
    },
    promote: (given, key) => pets.api('POST', '/api/v1/baselines/pets/promote', { digest, ...given }, key),
    isPromoted: async () => at((await pets.api('GET', '/api/v1/baselines/pets')).body, 'baseline', 'digest') === digest,
  }
}

suite('a breaking difference under the default pack', () => {
  test('stops calls, is accepted by an approver with a reason, and the ledger says so', async (t) => {
    const { call, promote, isPromoted, api } = await broken(t)
    assert.equal((await call()).status, 403)
    const unexplained = await promote({})
    assert.equal(unexplained.status, 400)
    assert.equal(at(unexplained.body, 'details', 0, 'pointer'), '/comment')
    assert.equal(await isPromoted(), false)
    const done = await promote({ comment: 'the agent reads its tools at every start' })
    assert.equal(done.status, 200, JSON.stringify(done.body))
    assert.equal((await call()).status, 200)
    const rows = listAt((await api('GET', '/api/v1/ledger?operation=register')).body, 'entries')
    const accepting = rows.find((row) => listAt(row, 'warnings').includes('BREAK_ACCEPTED'))
    const decision = await api('GET', `/api/v1/decisions/${textAt(accepting, 'decision_id')}`)
    assert.match(JSON.stringify(decision.body), /BREAK_ACCEPTED.*the agent reads its tools at every start/)
  })

  test('is accepted on the command line too, with a reason', async (t) => {
    const { cli, digest, isPromoted } = await broken(t)
    const unexplained = await cli('baselines', 'promote', 'pets', digest)
    assert.equal(unexplained.code, 1)
    assert.match(unexplained.stderr, /give the reason[^]*^--comment is required$/m)
    assert.equal(await isPromoted(), false)
    const done = await cli('baselines', 'promote', 'pets', digest, '--comment', 'adapted')
    assert.equal(done.code, 0, done.stderr)
    assert.equal(await isPromoted(), true)
  })

  test('is accepted by no agent, not even by its own preflight', async (t) => {
    const { promote, key, api, isPromoted } = await broken(t)
    const agent = await key('agent')
    assert.equal((await promote({ comment: 'mine' }, agent)).status, 403)
    const { body } = await api('GET', '/api/v1/baselines/pets')
    const artifact = {
      id: 'pets',
      type: 'openapi',
      before: textAt(body, 'baseline', 'content'),
      after: textAt(body, 'candidate', 'content'),
    }
    await api(
      'POST',
      '/api/v1/preflight',
      { preflight_mode: 'authorize', artifacts: [artifact], context: { operation: 'register', target_id: 'pets' } },
      agent,
    )
    assert.equal(await isPromoted(), false)
  })

  test('stays blocked by the strict pack', async (t) => {
    const { promote, isPromoted, cli, digest } = await broken(t, { policy: 'strict' })
    assert.equal((await promote({ comment: 'please' })).status, 403)
    assert.equal((await cli('baselines', 'promote', 'pets', digest, '--comment', 'please')).code, 1)
    assert.equal(await isPromoted(), false)
  })
})

suite('who may accept', () => {
  for (const [name, rules] of [
    ['the policy names a group for the contract', (groups: readonly string[]) => [accepted(groups)]],
    [
      'the policy names a group for calls under the change, and none for the contract',
      (groups: readonly string[]) => [held(groups)],
    ],
  ] as const) {
    test(`${name}: only who is in it, by API and command line`, async (t) => {
      const policy = packOf(t, rules(['payments']))
      const { promote, key, cli, digest, isPromoted } = await broken(t, { policy })
      const [other, payments] = [await key('approver', 'web'), await key('approver', 'payments')]
      const refused = await promote({ comment: 'fine' }, other)
      assert.equal(refused.status, 403, JSON.stringify(refused.body))
      assert.match(textAt(refused.body, 'message'), /payments/)
      assert.equal((await cli('baselines', 'promote', 'pets', digest, '--comment', 'fine')).code, 1)
      assert.equal((await cli('baselines', 'promote', 'pets', digest, '--comment', 'fine', '--groups', 'web')).code, 1)
      assert.equal(await isPromoted(), false)
      assert.equal((await promote({ comment: 'fine' }, payments)).status, 200)
      assert.equal(await isPromoted(), true)
    })
  }

  test('not who asked for the calls that wait; somebody else does, and those requests are granted by it', async (t) => {
    const policy = packOf(t, [held(), accepted()])
    const scene = await broken(t, { policy })
    const { promote, key, api, preflight, isPromoted } = scene
    const [first, second] = [await key('approver'), await key('approver')]
    const { body } = await api('GET', '/api/v1/baselines/pets')
    const artifacts = [
      {
        id: LIST_PETS,
        type: 'openapi',
        before: textAt(body, 'baseline', 'content'),
        after: textAt(body, 'candidate', 'content'),
      },
    ]
    const context = { operation: 'tool_call', environment: 'prod', target_id: LIST_PETS }
    await api('POST', '/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context }, first)
    assert.ok(preflight)
    const pending = listAt((await api('GET', '/api/v1/approvals?state=pending')).body, 'approvals')
    assert.ok(pending.length > 0)
    const refused = await promote({ comment: 'mine' }, first)
    assert.equal(refused.status, 403)
    assert.match(textAt(refused.body, 'message'), /four eyes/)
    assert.equal(await isPromoted(), false)
    assert.equal((await promote({ comment: 'seen' }, second)).status, 200)
    const after = listAt((await api('GET', '/api/v1/approvals')).body, 'approvals')
    const called = after.filter((row) => at(row, 'target_id') === LIST_PETS)
    assert.deepEqual([...new Set(called.map((row) => at(row, 'state')))], ['granted'])
    assert.equal(listAt((await api('GET', '/api/v1/approvals?state=pending')).body, 'approvals').length, 0)
  })

  test('nobody while a denial of the same change stands', async (t) => {
    const policy = packOf(t, [held(), accepted()])
    const { promote, api, isPromoted } = await broken(t, { policy })
    const [pending] = listAt((await api('GET', '/api/v1/approvals?state=pending')).body, 'approvals')
    await api('POST', `/api/v1/approvals/${textAt(pending, 'id')}/deny`, { comment: 'no' })
    assert.equal((await promote({ comment: 'but' })).status, 409)
    assert.equal(await isPromoted(), false)
  })

  for (const [then, isPromotedByItself] of [
    ['REQUIRE_APPROVAL', false],
    ['BLOCK', false],
    ['WARN', true],
  ] as const) {
    test(`auto_promote goes by the policy: additions that it answers with ${then} ${isPromotedByItself ? 'become' : 'do not become'} the baseline by themselves`, async (t) => {
      const policy = packOf(t, [{ id: 'additions', when: "finding.level == 'info'", then }])
      const contract = {
        baseline: { file: petContract() },
        current: { file: petContract() },
        refresh: 0,
        auto_promote: 'info',
      }
      const { api, call } = await startPetRoute(t, { contract }, { policy })
      await call()
      const document: unknown = JSON.parse(readFileSync(contract.current.file, 'utf8'))
      const paths = { ...Object(at(document, 'paths')), '/dogs': at(document, 'paths', '/pets') }
      writeFileSync(contract.current.file, JSON.stringify({ ...Object(document), paths }))
      await call()
      const { body } = await api('GET', '/api/v1/baselines/pets')
      assert.equal(textAt(body, 'baseline', 'content').includes('/dogs'), isPromotedByItself)
    })
  }
})

function breakBoth(paths: Record<string, unknown>): void {
  breakListing(paths)
  const parameters = [
    { name: 'petId', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'shop', in: 'query', required: true, schema: { type: 'string' } },
  ]
  paths['/pets/{petId}'] = { get: { ...Object(at(paths['/pets/{petId}'], 'get')), parameters } }
}

suite('of a candidate that breaks two operations, one is accepted', () => {
  for (const way of ['operation:listPets', 'operation:GET /pets'])
    for (const through of ['api', 'command line'] as const)
      test(`${way} by ${through}: it is called again, the other one stays refused`, async (t) => {
        const { call, change, api, cli, gateway, digest } = await broken(t)
        change(breakBoth)
        assert.equal((await call()).status, 403)
        const other = () => fetch(`${gateway.addresses.proxy}/pets/7`)
        const candidate = async () => textAt((await api('GET', '/api/v1/baselines/pets')).body, 'candidate', 'digest')
        await until(async () => {
          assert.equal((await other()).status, 403)
          return (await candidate()) !== digest
        }, 'the second change is seen')
        const offered = await candidate()
        if (through === 'api') {
          const unknown = await api('POST', '/api/v1/baselines/pets/promote', {
            digest: offered,
            comment: 'adapted',
            only: [way, 'operation:none'],
          })
          assert.equal(unknown.status, 400)
          assert.equal(at(unknown.body, 'details', 0, 'pointer'), '/only/1')
          const body = { digest: offered, comment: 'adapted', only: [way] }
          const done = await api('POST', '/api/v1/baselines/pets/promote', body)
          assert.equal(done.status, 200, JSON.stringify(done.body))
        } else {
          const done = await cli('baselines', 'promote', 'pets', offered, '--only', way, '--comment', 'adapted')
          assert.equal(done.code, 0, done.stderr)
          await new Promise((resolve) => setTimeout(resolve, 1100))
        }
        assert.equal((await call()).status, 200)
        assert.equal((await other()).status, 403)
        const { body } = await api('GET', '/api/v1/baselines/pets')
        assert.equal(at(body, 'candidate', 'digest'), offered)
        assert.notEqual(at(body, 'baseline', 'digest'), offered)
      })
})
