/** Edits that two tools make in two ways: what is judged has to be what any of them writes, or the edit is refused. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { applyFileChange, guardTools, readFileChanges } from '../../engine/internal.ts'
import { preflightClient } from '../../gateway/client.ts'
import { startAgent, textOf } from '../fakes/agent.ts'
import { startApi } from '../fakes/api.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { startStdioServer } from '../fakes/stdio-bridge.ts'

const PRIOR = 'a: { one: x }\nb: { two: x }\n'

/** The file after a call; null: it is not determined. */
function fileAfter(args: object, declared: readonly string[] | null = null): string | null {
  const read = readFileChanges(args, declared === null ? null : new Set(declared))
  const [change] = read.kind === 'changes' ? read.changes : []
  const edited = change === undefined ? null : applyFileChange(PRIOR, change)
  return edited?.ok === true ? edited.value : null
}

const SIDES = [
  ['old_string', 'new_string'],
  ['old_str', 'new_str'],
  ['old_text', 'new_text'],
  ['oldString', 'newString'],
  ['oldText', 'newText'],
] as const

/** By what `String.replace` makes of it. */
const EXPANDED = ['$$ref: y', '$&', '$`', "'^[a-z]+$'", 'a$$', '$$$1']
const LITERAL = ['$ref: y', '"^[a-z]+$"', '$1', '$<name>', '$defs', '€', '100 $']

function callsWith(sides: object): readonly object[] {
  return [{ path: 'p', ...sides }, { path: 'p', edits: [sides] }, { files: [{ path: 'p', ...sides }] }]
}

for (const [before, after] of SIDES)
  test(`a text that tools expand leaves open what ${after} writes; other texts with a dollar sign do not`, () => {
    for (const text of EXPANDED)
      for (const call of callsWith({ [before]: 'one: x', [after]: text })) {
        assert.notEqual(PRIOR.replace('one: x', text), PRIOR.split('one: x').join(text), text)
        assert.equal(fileAfter(call), null, text)
      }
    for (const text of LITERAL)
      for (const call of callsWith({ [before]: 'one: x', [after]: text }))
        assert.equal(fileAfter(call), PRIOR.replace('one: x', text), text)
  })

test('each place of a text is replaced by a tool that declares the member for it; of others only one may be', () => {
  const everywhere = PRIOR.replaceAll('x', 'y')
  for (const name of ['replace_all', 'replaceAll']) {
    const call = { path: 'p', old_string: 'x', new_string: 'y', [name]: true }
    assert.equal(fileAfter(call, ['path', 'old_string', 'new_string', name]), everywhere)
    assert.equal(fileAfter(call, ['path', 'old_string', 'new_string']), null)
    assert.equal(fileAfter(call), null)
  }
})

const SCHEMA = '{"type":"object","properties":{"name":{}},"$defs":{"never":{"not":{}}}}'

test('a guarded tool does not write a reference that the judged text does not hold', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  for (const reads of [true, false]) {
    let file = SCHEMA
    const edit_file = ({ oldText, newText }: Readonly<Record<'path' | 'oldText' | 'newText', string>>): void => {
      file = file.replace(oldText, newText)
    }
    const guarded = guardTools(
      { edit_file },
      {
        ...preflightClient({ url: api.url, key: api.key }),
        operation: 'publish',
        ...(reads && { readFile: () => Promise.resolve(file) }),
        typeOf: () => 'json_schema',
      },
    )
    const oldText = reads ? '"name":{}' : SCHEMA
    const newText = oldText.replace('"name":{}', () => '"name":{"$$ref":"#/$defs/never"}')
    const outcome = await guarded.edit_file({ path: 'pet.json', oldText, newText })
    assert.equal(outcome.executed, false)
    assert.match('reason' in outcome.verdict ? outcome.verdict.reason.message : '', /Some tools expand \$\$/)
    assert.equal(file, SCHEMA)
  }
})

const API = "openapi: 3.0.3\ninfo: { title: pets, version: '1' }\npaths: {}\n"

async function filesBehind(t: TestContext, server: string) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-edit-readings-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'openapi.yaml')
  writeFileSync(path, API)
  const upstream = await startStdioServer(t, server, [folder])
  const route = { name: 'files', match: { path: '/files' }, upstream, protocol: 'mcp', edits: {} }
  const gateway = await startTestGateway(t, { routes: [route] })
  const agent = await startAgent(`${gateway.addresses.proxy}/files`)
  t.after(() => agent.close())
  return { agent, path, text: () => readFileSync(path, 'utf8') }
}

// The older of the two expands a new text, the newer one does not.
for (const server of ['server-filesystem-before', '@modelcontextprotocol/server-filesystem'])
  test(`${server}: an edit with a text that some versions expand is stopped`, async (t) => {
    const { agent, path, text } = await filesBehind(t, `${server}/dist/index.js`)
    const edit = (newText: string) =>
      agent.client.callTool({
        name: 'edit_file',
        arguments: { path, edits: [{ oldText: "version: '1'", newText }] },
      })
    const stopped = await edit('version: "1$\'"')
    assert.equal(stopped.isError, true, textOf(stopped))
    assert.equal(text(), API)
    const made = await edit('version: "1$"')
    assert.notEqual(made.isError, true, textOf(made))
    assert.equal(text(), API.replace("version: '1'", 'version: "1$"'))
  })
