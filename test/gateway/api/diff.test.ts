/** POST /api/diff: documents inline, from git and from allowed hosts; JSON and Markdown; real documents of the corpus. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { isPublicAddress } from '../../../gateway/network/address.ts'
import { fetchDocument } from '../../../gateway/network/fetch.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { PETS, PETS_REORDERED, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt, numberAt, textAt } from '../../json.ts'

const CORPUS = new URL('../../../../shared/corpus/', import.meta.url)

function ownedBy(operationId: string): string {
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1.0.0' },
    paths: { '/pets': { get: { operationId, 'x-team': 'pets', responses: { 200: { description: 'all' } } } } },
  })
}

describe('a diff', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi({ config: { diff: { findings: 3 } } })
  })
  after(() => api.close())

  it('says what changed, once for each place and once as a group', async () => {
    for (const path of ['/api/diff', '/api/v1/diff']) {
      const { status, body } = await api.post(path, { base: PETS, head: PETS_WITHOUT_DELETE })
      assert.equal(status, 200)
      assert.ok(numberAt(body, 'summary', 'breaking') > 0)
      assert.equal(at(body, 'summary', 'decision_hint'), 'BLOCK')
      assert.equal(at(body, 'spec_versions', 'base'), '3.0.3')
      const groups = new Set(listAt(body, 'groups').map((group) => at(group, 'id')))
      for (const finding of listAt(body, 'findings')) assert.ok(groups.has(at(finding, 'group')))
    }
  })

  it('finds nothing where nothing changed', async () => {
    const { body } = await api.post('/api/diff', { base: PETS, head: PETS_REORDERED })
    assert.deepEqual(at(body, 'findings'), [])
    assert.deepEqual(at(body, 'summary', 'semver'), 'none')
  })

  it('takes the other names of its sides, but not two for one side', async () => {
    const expected = (await api.post('/api/diff', { base: PETS, head: PETS_WITH_POST })).body
    for (const body of [
      { before: PETS, after: PETS_WITH_POST },
      { old_spec: PETS, new_spec: PETS_WITH_POST },
    ]) {
      assert.deepEqual(at((await api.post('/api/diff', body)).body, 'findings'), at(expected, 'findings'))
    }
    assert.equal((await api.post('/api/diff', { base: PETS, before: PETS, head: PETS })).status, 400)
    assert.equal((await api.post('/api/diff', { base: PETS })).status, 400)
  })

  it('reads YAML as it reads JSON', async () => {
    const yaml = 'openapi: 3.0.3\ninfo: {title: Pets, version: 1.0.0}\npaths: {}\n'
    const { status, body } = await api.post('/api/diff', { base: PETS, head: yaml })
    assert.equal(status, 200)
    assert.ok(numberAt(body, 'summary', 'breaking') > 0)
  })

  it('is Markdown when that is asked for', async () => {
    const { status, headers, text } = await api.post('/api/diff', {
      base: PETS,
      head: PETS_WITHOUT_DELETE,
      format: 'markdown',
    })
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/markdown/)
    assert.match(text, /^# /)
    assert.match(text, /breaking/)
    const accepted = await api.post('/api/diff', { base: PETS, head: PETS_WITHOUT_DELETE }, { accept: 'text/markdown' })
    assert.equal(accepted.text, text)
  })

  it('carries the extension members of operations that are asked for', async () => {
    const request = { base: ownedBy('list'), head: ownedBy('listPets') }
    const { body } = await api.post('/api/diff', { ...request, options: { attributes: ['x-team'] } })
    const findings = listAt(body, 'findings')
    assert.ok(findings.length > 0)
    for (const finding of findings) assert.deepEqual(at(finding, 'attributes'), { 'x-team': 'pets' })
    const refused = await api.post('/api/diff', { ...request, options: { attributes: ['summary'] } })
    assert.equal(refused.status, 400)
    assert.equal(at(refused.body, 'details', 0, 'pointer'), '/options/attributes/0')
  })

  it('counts what goes beyond the limit', async () => {
    const empty = PETS.replace(/"paths":.*/, '"paths":{}}')
    const { body } = await api.post('/api/diff', { base: PETS_WITH_POST, head: empty, options: { limit: 1 } })
    assert.equal(listAt(body, 'findings').length, 1)
    assert.ok(numberAt(body, 'truncated') >= 1)
  })

  const diffWithLevels = (selector: string) =>
    api.post('/api/diff', { base: PETS, head: PETS_WITHOUT_DELETE, options: { levels: { [selector]: 'info' } } })

  it('takes levels and paths from its options', async () => {
    const [rule] = listAt((await api.post('/api/diff', { base: PETS, head: PETS_WITHOUT_DELETE })).body, 'findings')
    const levels = { [textAt(rule, 'rule')]: 'info' }
    const { body } = await api.post('/api/diff', { base: PETS, head: PETS_WITHOUT_DELETE, options: { levels } })
    assert.equal(at(body, 'summary', 'breaking'), 0)
    const wrong = await api.post('/api/diff', {
      base: PETS,
      head: PETS,
      options: { levels: { x: 'fatal' }, limit: -1 },
    })
    assert.equal(wrong.status, 400)
    assert.equal(listAt(wrong.body, 'details').length, 2)
  })

  it('takes levels by coordinates, and names a selector that selects nothing', async () => {
    assert.equal(at((await diffWithLevels('format:openapi,action:removed')).body, 'summary', 'breaking'), 0)
    const { status, body } = await diffWithLevels('action:remooved')
    assert.equal(status, 400)
    assert.equal(textAt(body, 'details', 0, 'pointer'), '/options/levels/action:remooved')
    assert.match(textAt(body, 'details', 0, 'message'), /did you mean "removed"/)
  })

  it('says where a document cannot be read', async () => {
    const { status, body } = await api.post('/api/diff', { base: PETS, head: 'openapi: 3.0.3\npaths: [unclosed\n' })
    assert.equal(status, 422)
    assert.equal(at(body, 'error'), 'ARTIFACT_UNREADABLE')
    assert.match(textAt(body, 'details', 0, 'message'), /head.*line \d+, column \d+/s)
    for (const [faulty, pointer] of [
      [{ base: '{', head: PETS }, '/base'],
      [{ base: PETS, head: '{' }, '/head'],
      [{ old_spec: PETS, new_spec: '{' }, '/new_spec'],
      [{ before: 'just words', after: PETS }, '/before'],
      [{ base: PETS, head: '{"info": {}}', type: 'openapi' }, '/head'],
      [{ base: 'type Query {', head: 'type Query { a: Int }', type: 'graphql' }, '/base'],
      [{ base: 'syntax = "proto3";', head: 'syntax = ', type: 'protobuf' }, '/head'],
      [{ base: '{}', head: '{', type: 'json_schema' }, '/head'],
      [{ base: '{', head: '[]', type: 'agent_tools' }, '/base'],
      [{ base: '{', head: '{"tools": []}', type: 'mcp' }, '/base'],
      [{ base: '{', head: '{}', type: 'asyncapi' }, '/base'],
      [{ base: '{', head: '{}', type: 'k8s_crd' }, '/base'],
    ] as const) {
      const refused = await api.post('/api/diff', faulty)
      assert.ok([400, 422].includes(refused.status), JSON.stringify(faulty))
      assert.equal(textAt(refused.body, 'details', 0, 'pointer'), pointer, JSON.stringify(faulty))
    }
    assert.equal((await api.post('/api/diff', { base: PETS, head: PETS, type: 'cobol' })).status, 400)
  })
})

describe('a diff of two refs of the repository', () => {
  let api: ApiFake
  const repository = mkdtempSync(join(tmpdir(), 'preflight-git-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: repository,
      stdio: 'pipe',
    })
  before(async () => {
    git('init', '--quiet', '--initial-branch=main')
    mkdirSync(join(repository, 'api'))
    for (const [tag, text] of [
      ['v1', PETS],
      ['v2', PETS_WITHOUT_DELETE],
    ] as const) {
      writeFileSync(join(repository, 'api', 'pets v.json'), text)
      git('add', '.')
      git('commit', '--quiet', '-m', tag)
      git('tag', tag)
    }
    api = await startApi({ config: { diff: { repository } } })
  })
  after(async () => {
    await api.close()
    rmSync(repository, { recursive: true, force: true })
  })

  it('reads both sides with git', async () => {
    const { status, body } = await api.post('/api/diff', { base: 'v1:api/pets v.json', head: 'main:api/pets v.json' })
    assert.equal(status, 200, JSON.stringify(body))
    assert.ok(numberAt(body, 'summary', 'breaking') > 0)
  })

  it('refuses refs and paths that are anything but a name and a file inside', async () => {
    const canary = join(repository, 'canary')
    for (const base of [
      'v9:api/pets v.json',
      'v1:api/none.json',
      'v1:api',
      'v1:../secret',
      'v1:/etc/passwd',
      'v1:api/./pets v.json',
      `--output=${canary}:api/pets v.json`,
      `--upload-pack=touch\t${canary}:x`,
      '-p:api/pets v.json',
      'v1@{0}:api/pets v.json',
      'v1..v2:api/pets v.json',
      ':/v1:x',
    ]) {
      const { status, body } = await api.post('/api/diff', { base, head: 'main:api/pets v.json' })
      assert.ok(status === 422 || status === 400, `${base}: ${status}`)
      assert.ok(textAt(body, 'details', 0, 'message').length > 0)
    }
    assert.equal(existsSync(canary), false)
  })

  it('is refused clearly where no repository is configured', async () => {
    const bare = await startApi()
    const { status, body } = await bare.post('/api/diff', { base: 'v1:api/pets.json', head: PETS })
    assert.equal(status, 400)
    assert.equal(at(body, 'details', 0, 'pointer'), '/base')
    assert.match(textAt(body, 'details', 0, 'message'), /diff\.repository/)
    await bare.close()
  })
})

describe('a document from a URL', () => {
  let server: Server
  let host = ''
  const asked: string[] = []
  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? '')
      if (request.url === '/moved') response.writeHead(302, { location: '/pets.json' }).end()
      else if (request.url === '/pets.json') response.end(PETS)
      else if (request.url === '/large') response.end('x'.repeat(10_000))
      else response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const address = server.address()
    host = typeof address === 'object' && address !== null ? `127.0.0.1:${address.port}` : ''
  })
  after(() => server.close())

  const rules = () => ({ allowedHosts: [host], maxBytes: 5000, isPermitted: () => true })

  it('is fetched from an allowed host', async () => {
    const read = await fetchDocument(`http://${host}/pets.json`, rules())
    assert.deepEqual(read, { ok: true, value: PETS })
  })

  it('is not followed elsewhere, not read without end, and not taken from an error page', async () => {
    for (const [path, reason] of [
      ['/moved', /302/],
      ['/large', /./],
      ['/none', /404/],
    ] as const) {
      const read = await fetchDocument(`http://${host}${path}`, rules())
      assert.equal(read.ok, false, path)
      assert.match(read.ok ? '' : read.problem.message, reason)
    }
  })

  it('is never fetched from an address inside, by number or by name, whatever the list of hosts says', async () => {
    asked.length = 0
    const port = host.split(':')[1]
    for (const name of [host, `localhost:${port}`, `[::ffff:127.0.0.1]:${port}`, `[::1]:${port}`, `0x7f.1:${port}`]) {
      const url = `http://${name}/pets.json`
      const allowedHosts = [name, new URL(url).host]
      const read = await fetchDocument(url, { allowedHosts, maxBytes: 5000 })
      assert.equal(read.ok, false, name)
      assert.match(read.ok ? '' : read.problem.message, /not a public address|failed/)
    }
    assert.deepEqual(asked, [])
  })

  it('is not fetched at all from a host that is not allowed, or with a password', async () => {
    for (const url of [`http://other.example/pets.json`, `http://user:secret@${host}/pets.json`, 'ftp://x/y']) {
      assert.equal((await fetchDocument(url, rules())).ok, false)
    }
    const api = await startApi()
    const { status, body } = await api.post('/api/diff', { base: 'https://example.org/a.json', head: PETS })
    assert.equal(status, 422)
    assert.match(textAt(body, 'details', 0, 'message'), /diff\.allow_urls/)
    await api.close()
  })

  it('may come from public addresses only', () => {
    const inside = [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '192.168.0.1',
      '100.64.0.1',
      '0.0.0.0',
      '::1',
      'fe80::1',
      'fd00::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      '224.0.0.1',
      '255.255.255.255',
      'localhost',
      '',
    ]
    for (const address of inside) assert.equal(isPublicAddress(address), false, address)
    for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111'])
      assert.equal(isPublicAddress(address), true, address)
  })
})

describe('real documents', () => {
  it('of the corpus are compared, and each with itself is no change', async (t) => {
    if (!existsSync(CORPUS)) return t.skip('the corpus (../shared/corpus) is not here')
    const api = await startApi()
    for (const [folder, type] of [
      ['openapi', 'openapi'],
      ['mcp', 'mcp_manifest'],
    ] as const) {
      for (const name of readdirSync(new URL(folder, CORPUS)).filter(
        (entry) => !entry.includes('.') && !entry.startsWith('github'),
      )) {
        const [before, after] = sides(new URL(`${folder}/${name}/`, CORPUS))
        const { status, body } = await api.post('/api/diff', { base: before, head: after, options: { limit: 10 } })
        assert.equal(status, 200, `${name}: ${JSON.stringify(body).slice(0, 500)}`)
        const same = await api.post('/api/diff', { base: before, head: before, type })
        assert.deepEqual(at(same.body, 'groups'), [], name)
      }
    }
    await api.close()
  })
})

function sides(folder: URL): readonly string[] {
  const names = readdirSync(folder)
  return ['before', 'after'].map((side) => {
    const name = names.find((entry) => entry.startsWith(`${side}.`))
    return name === undefined ? '' : readFileSync(new URL(name, folder), 'utf8')
  })
}
