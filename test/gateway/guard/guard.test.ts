/** The guard in front of a tool table, against the real API: a change of a contract runs under a decision that permits it, or does not run. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { guardMcpClient, guardTools, type GuardOptions, type GuardOutcome } from '../../../engine/internal.ts'
import { preflightClient } from '../../../gateway/client.ts'
import { fetchFailure } from '../../../gateway/errors/startup-error.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt } from '../../json.ts'

interface Write {
  readonly path: string
  readonly content: string
}

const DEPRECATED = PETS.replace('"delete":{', '"delete":{"deprecated":true,')
const CONTEXT = { repository: 'acme/pets', environment: 'prod' }

function codeOf(outcome: GuardOutcome<unknown>): string {
  assert.equal(outcome.executed, false)
  return outcome.executed ? '' : outcome.verdict.reason.code
}

function messageOf({ verdict }: GuardOutcome<unknown>): string {
  return 'reason' in verdict ? verdict.reason.message : ''
}

describe('a guarded tool', () => {
  let api: ApiFake
  let files: Map<string, string>
  let ran: string[]
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())
  beforeEach(() => {
    files = new Map([['pets.json', PETS]])
    ran = []
  })

  const tools = {
    write_file: ({ path, content }: Write) => {
      ran.push(path)
      files.set(path, content)
      return content.length
    },
    edit_file: ({ path }: { readonly path: string; readonly [more: string]: unknown }) => {
      ran.push(path)
      return Promise.resolve('edited')
    },
    read_file: ({ path }: { readonly path: string }) => files.get(path) ?? null,
    fail: ({ path }: Write): never => {
      ran.push(path)
      throw new RangeError('the disk is full')
    },
  }
  const options = (changes: Partial<GuardOptions> = {}): GuardOptions => ({
    ...preflightClient({ url: api.url, key: api.key }),
    operation: 'publish',
    context: CONTEXT,
    reads: ['read_file'],
    readFile: (path) => Promise.resolve(files.get(path) ?? null),
    ...changes,
  })
  const guarded = (changes: Partial<GuardOptions> = {}) => guardTools(tools, options(changes))
  /** Without the member at all, as who does not wire it leaves it. */
  const unwired = (name: 'report' | 'readFile') => {
    const { [name]: _left, ...rest } = options()
    return guardTools(tools, rest)
  }

  it('runs when nothing breaks, under a decision of its own', async () => {
    const outcome = await guarded().write_file({ path: 'pets.json', content: PETS_WITH_POST })
    assert.equal(outcome.executed, true)
    assert.equal(outcome.verdict.kind, 'ALLOW')
    assert.equal(outcome.executed && outcome.result, PETS_WITH_POST.length)
    const { body } = await api.get('/api/v1/ledger?limit=1')
    const [entry] = listAt(body, 'entries')
    assert.equal(at(entry, 'decision_id'), 'decisionId' in outcome.verdict && outcome.verdict.decisionId)
    assert.equal(at(entry, 'operation'), 'publish')
    assert.equal(at(entry, 'repository'), 'acme/pets')
  })

  it('does not run when the change breaks callers, and says so', async () => {
    const outcome = await guarded().write_file({ path: 'pets.json', content: PETS_WITHOUT_DELETE })
    assert.equal(outcome.verdict.kind, 'BLOCK')
    assert.equal(codeOf(outcome), 'STOPPED')
    assert.match(messageOf(outcome), /^Do not retry the same change\. BLOCK: 1 breaking, .*: the operation was removed/)
    assert.deepEqual(ran, [])
    assert.equal(files.get('pets.json'), PETS)
  })

  it('is distinguished from a pending approval', async () => {
    const dangerous = PETS.replace('"name":{"type":"string"}', '"name":{"type":"string","enum":["a"]}')
    const widened = dangerous.replace('["a"]', '["a","b"]')
    files.set('pets.json', dangerous)
    const outcome = await guarded().write_file({ path: 'pets.json', content: widened })
    assert.equal(outcome.verdict.kind, 'REQUIRE_APPROVAL')
    assert.equal(codeOf(outcome), 'APPROVAL_REQUIRED')
    assert.match(messageOf(outcome), /^A person has to approve; .*REQUIRE_APPROVAL: 1 dangerous: .+/)
    assert.deepEqual(ran, [])
  })

  it('with monitoring reports its start and its end', async () => {
    const outcome = await guarded().write_file({ path: 'pets.json', content: DEPRECATED })
    assert.equal(outcome.verdict.kind, 'WARN')
    assert.deepEqual(ran, ['pets.json'])
    assert.deepEqual(await api.store.windows.listOpen(), [])
    assert.match(await api.metrics.text(), /preflight_monitoring_windows_closed_total\{outcome="SUCCEEDED"\} 1/)
  })

  it('with monitoring does not run without a telemetry sink', async () => {
    assert.equal(
      codeOf(await unwired('report').write_file({ path: 'pets.json', content: DEPRECATED })),
      'MONITORING_UNWIRED',
    )
    const broken = guarded({ report: () => Promise.reject(new Error('no')) })
    assert.equal(codeOf(await broken.write_file({ path: 'pets.json', content: DEPRECATED })), 'MONITORING_UNWIRED')
    assert.deepEqual(ran, [])
  })

  it('that throws throws on, and is reported as failed', async () => {
    await assert.rejects(guarded().fail({ path: 'pets.json', content: DEPRECATED }), RangeError)
    assert.match(await api.metrics.text(), /preflight_monitoring_windows_closed_total\{outcome="FAILED"\} 1/)
  })

  it('is judged by the whole file that its edits make', async () => {
    const edit = { old_string: '"delete":{', new_string: '"delete":{"summary":"end","deprecated":true,' }
    assert.equal((await guarded().edit_file({ path: 'pets.json', ...edit })).verdict.kind, 'WARN')
    const edits = [
      { oldText: '"delete":', newText: '"patch":' },
      { oldText: '"patch":', newText: '"put":' },
    ]
    assert.equal((await guarded().edit_file({ path: 'pets.json', edits })).verdict.kind, 'BLOCK')
    assert.deepEqual(ran, ['pets.json'])
  })

  it('with edits of both sides needs no file at hand', async () => {
    const whole = { old_string: PETS, new_string: PETS_WITHOUT_DELETE }
    assert.equal(codeOf(await unwired('readFile').edit_file({ path: 'pets.json', ...whole })), 'STOPPED')
    const good = { old_string: PETS, new_string: PETS_WITH_POST }
    assert.equal((await unwired('readFile').edit_file({ path: 'pets.json', ...good })).executed, true)
  })

  it('that writes where nothing was does not run', async () => {
    assert.equal(codeOf(await guarded().write_file({ path: 'new.json', content: PETS })), 'GUARD_NO_PRIOR_CONTENT')
    const blind = unwired('readFile')
    assert.equal(codeOf(await blind.write_file({ path: 'pets.json', content: PETS })), 'GUARD_NO_PRIOR_CONTENT')
    assert.deepEqual(ran, [])
  })

  for (const [what, args] of [
    ['no path', { content: PETS }],
    ['two paths', { path: 'pets.json', file: 'other.json', content: PETS }],
    ['an edit and a content', { path: 'pets.json', old_string: 'a', new_string: 'b', content: PETS }],
    ['an edit of one side', { path: 'pets.json', new_string: 'b' }],
    ['no edits', { path: 'pets.json', edits: [] }],
    ['an odd edit among good ones', { path: 'pets.json', edits: [{ oldText: 'a', newText: 'b' }, {}] }],
    ['a text that is not there', { path: 'pets.json', old_string: 'nowhere', new_string: 'b' }],
    ['a text that is there twice', { path: 'pets.json', old_string: '"type"', new_string: 'b' }],
    ['an empty text', { path: 'pets.json', old_string: '', new_string: 'b' }],
  ] as const) {
    it(`with ${what} has no single reading and does not run`, async () => {
      const edit: (call: object) => Promise<GuardOutcome<unknown>> = guardTools(
        { edit: (_call: object) => ran.push('edit') },
        options(),
      ).edit
      assert.equal(codeOf(await edit(args)), 'GUARD_CALL_UNRECOGNISED')
      assert.deepEqual(ran, [])
    })
  }

  it('runs unjudged where the options say that there is no contract', async () => {
    assert.equal((await guarded().read_file({ path: 'pets.json' })).verdict.kind, 'UNJUDGED')
    files.set('notes.txt', 'a note')
    const note = { path: 'notes.txt', content: 'another note' }
    assert.equal(codeOf(await guarded().write_file(note)), 'GUARD_CONTRACT_UNRECOGNISED')
    const knowing = guarded({ typeOf: (path) => (path.endsWith('.txt') ? 'none' : null) })
    assert.equal((await knowing.write_file(note)).verdict.kind, 'UNJUDGED')
    assert.equal((await knowing.write_file({ path: 'pets.json', content: PETS_WITHOUT_DELETE })).executed, false)
  })

  it('that leaves a contract broken beyond recognition is judged as what it was', async () => {
    const outcome = await guarded().write_file({ path: 'pets.json', content: '{ not json' })
    assert.equal(outcome.executed, false)
    assert.equal(outcome.verdict.kind, 'BLOCK')
  })

  it('does not run when the file changed while it was judged', async () => {
    const { verify, ...rest } = options()
    const racing = guardTools(tools, {
      ...rest,
      verify: (question) => {
        files.set('pets.json', PETS_WITHOUT_DELETE)
        return verify(question)
      },
    })
    const outcome = await racing.write_file({ path: 'pets.json', content: PETS_WITH_POST })
    assert.equal(codeOf(outcome), 'GUARD_CONTENT_CHANGED')
    assert.deepEqual(ran, [])
  })

  it('does not run when the gateway, its answer or its verification fails, whatever the fault', async () => {
    const change = { path: 'pets.json', content: PETS_WITH_POST }
    const { preflight, verify } = options()
    const faults: readonly Partial<GuardOptions>[] = [
      { preflight: () => Promise.reject(new Error('no route')) },
      { preflight: () => Promise.resolve(null) },
      { preflight: () => Promise.resolve({ decision_result: {} }) },
      { verify: () => Promise.reject(new Error('no route')) },
      { verify: () => Promise.resolve({ currently_authorized: 'true' }) },
      { verify: () => Promise.resolve({}) },
      { verify: (question) => verify({ ...question, context: { ...CONTEXT, operation: 'deploy' } }) },
      { readFile: () => Promise.reject(new Error('no such disk')) },
      { now: () => Date.now() + 86_400_000 },
      { now: () => Number.NaN },
      { preflight: (request) => preflight({ ...request, context: { ...CONTEXT, operation: 'deploy' } }) },
      { preflight: (request) => preflight({ ...request, artifacts: [{ ...artifact(), after: PETS }] }) },
      { preflight: async (request) => withoutAuthorization(await preflight(request)) },
      preflightClient({ url: api.url, key: 'pf_test_wrong' }),
      preflightClient({ url: 'http://127.0.0.1:1', key: api.key }),
    ]
    for (const [index, fault] of faults.entries()) {
      const outcome = await guarded(fault).write_file(change)
      assert.deepEqual([outcome.executed, outcome.verdict.kind], [false, 'BLOCK'], `fault ${index}`)
    }
    assert.deepEqual(ran, [])
  })

  it('names the gateway that does not answer, and why', async () => {
    const away = preflightClient({ url: 'http://127.0.0.1:65535', key: api.key })
    const outcome = await guarded(away).write_file({ path: 'pets.json', content: PETS })
    const message = outcome.executed ? '' : outcome.verdict.reason.message
    assert.match(message, /no gateway answers at http:\/\/127\.0\.0\.1:65535\/: .*ECONNREFUSED/)
    const refused = new Error('fetch failed', {
      cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
    })
    assert.equal(fetchFailure(refused), 'ECONNREFUSED')
  })

  it('cannot be made without an operation', () => {
    for (const operation of ['', '  ']) assert.throws(() => guarded({ operation }), /needs an operation/)
  })
})

const artifact = () => ({ id: 'pets.json', type: 'openapi', path: 'pets.json', before: PETS })

/** The same decision, whose control envelope no longer says that it authorizes. */
function withoutAuthorization(answer: unknown): unknown {
  const view = { currently_authorized: false }
  return { decision_result: at(answer, 'decision_result'), control_envelope: { receipt_view: view } }
}

describe('tools in the shapes of frameworks', () => {
  const BLOCKED = { path: 'pets.json', content: PETS_WITHOUT_DELETE }
  const GOOD = { path: 'pets.json', content: PETS_WITH_POST }
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())
  const options = (changes: Partial<GuardOptions> = {}): GuardOptions => ({
    ...preflightClient({ url: api.url, key: api.key }),
    operation: 'publish',
    context: CONTEXT,
    readFile: () => Promise.resolve(PETS),
    ...changes,
  })

  it('hold an object with execute, and leave its other members as they are', async () => {
    const ran: unknown[] = []
    const write = {
      description: 'Writes a file',
      parameters: { type: 'object' },
      execute: (args: Write, more: { readonly toolCallId: string }) => {
        ran.push(more.toolCallId)
        return args.path
      },
    }
    const { write_file: guarded } = guardTools({ write_file: write }, options())
    assert.equal(guarded.description, 'Writes a file')
    assert.equal(guarded.parameters, write.parameters)
    assert.equal(codeOf(await guarded.execute(BLOCKED, { toolCallId: 'a' })), 'STOPPED')
    const done = await guarded.execute(GOOD, { toolCallId: 'b' })
    assert.equal(done.executed && done.result, 'pets.json')
    assert.deepEqual(ran, ['b'])
  })

  it('hold a class that runs itself by another of its members once, and what is made of it too', async () => {
    class StructuredTool {
      readonly name = 'write_file'
      readonly ran: string[] = []
      invoke(input: unknown): Promise<string> {
        return this.call(input)
      }
      call(input: unknown): Promise<string> {
        return Promise.resolve(this._call(input))
      }
      _call(input: unknown): string {
        this.ran.push(JSON.stringify(input))
        return 'written'
      }
      async batch(inputs: readonly unknown[]): Promise<readonly unknown[]> {
        return await Promise.all(inputs.map((input) => this.invoke(input)))
      }
    }
    const tool = new StructuredTool()
    const { tool: guarded } = guardTools({ tool }, options())
    assert.ok(guarded instanceof StructuredTool)
    const call = { type: 'tool_call', id: '1', name: 'write_file', args: BLOCKED }
    assert.equal(codeOf(await guarded.invoke(call)), 'STOPPED')
    for (const run of ['invoke', 'call', '_call'] as const)
      assert.equal((await guarded[run](BLOCKED)).executed, false, run)
    const [first] = await guarded.batch([BLOCKED])
    assert.equal(at(first, 'executed'), false)
    assert.deepEqual(tool.ran, [])
    const done = await guarded.invoke({ ...call, args: GOOD })
    assert.equal(done.executed && done.result, 'written')
    assert.equal(tool.ran.length, 1)
  })

  it('hold functions that are called with JSON text, which must have one reading', async () => {
    const ran: string[] = []
    const { write_file: guarded } = guardTools({ write_file: (text: string) => ran.push(text) }, options())
    assert.equal(codeOf(await guarded(JSON.stringify(BLOCKED))), 'STOPPED')
    const twice = `{"path":"pets.json","content":${JSON.stringify(PETS)},"content":${JSON.stringify(PETS_WITHOUT_DELETE)}}`
    assert.equal(codeOf(await guarded(twice)), 'GUARD_CALL_UNRECOGNISED')
    assert.equal(codeOf(await guarded('no JSON')), 'GUARD_CALL_UNRECOGNISED')
    assert.equal((await guarded(JSON.stringify(GOOD))).executed, true)
    assert.equal(ran.length, 1)
  })

  it('hold the client of an MCP server by both of its ways to call a tool', async () => {
    const called: unknown[] = []
    const client = {
      callTool: (params: { readonly name: string; readonly arguments?: object }) => {
        called.push(params.name)
        return Promise.resolve({ content: [] })
      },
      request: (request: { readonly method: string; readonly params?: object }) => {
        called.push(request.method)
        return Promise.resolve({ tools: [] })
      },
      listTools: () => Promise.resolve({ tools: ['write_file'] }),
    }
    const guarded = guardMcpClient(client, options({ reads: ['read_file'] }))
    assert.deepEqual(await guarded.listTools(), { tools: ['write_file'] })
    const blocked = await guarded.callTool({ name: 'write_file', arguments: BLOCKED })
    assert.equal(codeOf(blocked), 'STOPPED')
    const request = { method: 'tools/call', params: { name: 'write_file', arguments: BLOCKED } }
    assert.equal(at(await guarded.request(request), 'executed'), false)
    assert.deepEqual(called, [])
    await guarded.request({ method: 'tools/list' })
    assert.equal((await guarded.callTool({ name: 'read_file', arguments: { path: 'x' } })).executed, true)
    assert.equal((await guarded.callTool({ name: 'write_file', arguments: GOOD })).executed, true)
    assert.deepEqual(called, ['tools/list', 'read_file', 'write_file'])
  })

  it('are refused when nothing about them can be run, or no operation is named', () => {
    assert.throws(() => guardTools({ nothing: { description: 'a plan' } }, options()), /nothing is not a function/)
    assert.throws(() => guardMcpClient({ listTools: () => [] }, options()), /no callTool/)
    assert.throws(() => guardMcpClient({ callTool: () => 1 }, options({ operation: ' ' })), /needs an operation/)
  })
})
