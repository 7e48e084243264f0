/** What people read of a comparison: each form names what changed, counts changes and places apart, and fetches addresses. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { listAt, textAt } from '../../json.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-words-'))
after(() => rmSync(directory, { recursive: true, force: true }))

type Json = Readonly<Record<string, unknown>>

let files = 0
function file(content: Json): string {
  files += 1
  const path = join(directory, `${files}.json`)
  writeFileSync(path, JSON.stringify(content))
  return path
}

const DONE = { 200: { description: 'ok' } }

function api(operation: Json, paths: readonly string[] = ['/a']): Json {
  const item = { post: { responses: DONE, ...operation } }
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: Object.fromEntries(paths.map((path) => [path, item])),
  }
}

const parameter = (name: string, place: string, schema: Json): Json => ({
  parameters: [{ name, in: place, schema, required: place === 'path' }],
})
const holding = (name: string, schema: Json): Json => ({ type: 'object', properties: { [name]: schema } })
const body = (schema: Json): Json => ({ requestBody: { content: { 'application/json': { schema } } } })
const header = (schema: Json): Json => ({
  responses: { 200: { description: 'ok', headers: { 'X-Marked': { schema } } } },
})
const answer = (schema: Json): Json => ({
  responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } },
})
const tool = (schema: Json): Json => ({ tools: [{ name: 'search', inputSchema: holding('marked', schema) }] })

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }

const CHANGES: readonly (readonly [what: string, name: string, make: (schema: Json) => Json])[] = [
  ['query parameter', 'marked', (schema) => api(parameter('marked', 'query', schema))],
  ['header parameter', 'X-Marked', (schema) => api(parameter('X-Marked', 'header', schema))],
  ['cookie parameter', 'marked', (schema) => api(parameter('marked', 'cookie', schema))],
  ['path parameter', 'marked', (schema) => api(parameter('marked', 'path', schema), ['/a/{marked}'])],
  ['property of a parameter', 'filter', (schema) => api(parameter('filter', 'query', holding('marked', schema)))],
  ['request property', 'marked', (schema) => api(body(holding('marked', schema)))],
  ['response property', 'marked', (schema) => api(answer(holding('marked', schema)))],
  ['response header', 'X-Marked', (schema) => api(header(schema))],
  ['tool argument', 'marked', tool],
]

const FORMS = ['text', 'markdown', 'junit', 'github', 'sarif', 'json'] as const

suite('every form', () => {
  for (const [what, name, make] of CHANGES) {
    test(`names the ${what} that changed`, async () => {
      const [before, after] = [file(make(TEXT)), file(make(NUMBER))]
      for (const form of FORMS) {
        const { stdout } = await run(['diff', before, after, '--format', form])
        const plain = stdout.replaceAll('\\', '')
        // Beside the pointer, which names it in terms of the document.
        const words = plain.split('\n').filter((line) => /type/.test(line) && line.includes(name))
        assert.ok(words.length > 0, `${form}: ${stdout}`)
      }
    })
  }

  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    test(`names the ${keyword} of a tool argument once`, async () => {
      const { stdout } = await run(['diff', file(tool({})), file(tool({ [keyword]: [TEXT, NUMBER] }))])
      assert.ok(stdout.includes(keyword), stdout)
      assert.doesNotMatch(stdout, /(\([^()]*\)) \1/)
    })

  test('counts changes, and places where there are more of them', async () => {
    const paths = ['/a', '/b', '/c']
    const { stdout } = await run(['diff', file(api({}, paths)), file(api({ security: [{ key: [] }] }, paths))])
    assert.match(stdout, /^1 breaking \(at 3 places\), 0 dangerous, /)
    assert.match(stdout, /BREAKING \(1\)/)
  })
})

/** Listens on a free port of loopback for as long as `use` runs. */
async function serving(listener: RequestListener, use: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(listener)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  try {
    await use(`http://127.0.0.1:${address.port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

suite('an address', () => {
  const text = JSON.stringify(api({}))
  const listener: RequestListener = (request, response) => {
    const { url = '' } = request
    if (url === '/contract') response.end(text)
    else if (url === '/moved') response.writeHead(302, { location: '/contract' }).end()
    else if (url === '/elsewhere') response.writeHead(302, { location: 'ftp://127.0.0.1/' }).end()
    else if (url === '/round') response.writeHead(302, { location: '/round' }).end()
    else if (url === '/endless') {
      const chunk = Buffer.alloc(1024 * 1024)
      const pump = (): void => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', pump)
      pump()
    } else response.writeHead(404).end()
  }

  test('is fetched, redirects included', async () => {
    await serving(listener, async (origin) => {
      for (const path of ['/contract', '/moved']) {
        const { code, stderr } = await run(['diff', `${origin}${path}`, file(api({}))])
        assert.equal(code, 0, stderr)
      }
    })
  })

  const REFUSED: readonly (readonly [string, RegExp])[] = [
    ['/missing', /it answered 404/],
    ['/round', /redirects more than 5 times/],
    ['/elsewhere', /redirects to where nothing is fetched/],
    ['/endless', /fetching it failed: .*(?:size|exceed)/i],
  ]
  for (const [path, error] of REFUSED) {
    test(`that cannot be fetched is refused with the reason: ${path}`, async () => {
      await serving(listener, async (origin) => {
        const { code, stderr } = await run(['diff', `${origin}${path}`, file(api({}))])
        assert.equal(code, 2)
        assert.match(stderr, error)
        assert.ok(stderr.includes(`${origin}${path}`) && !stderr.includes('git'))
      })
    })
  }

  test('of another scheme, with credentials, or where nobody answers is refused with the reason', async () => {
    const one = file(api({}))
    for (const [address, error] of [
      ['ftp://127.0.0.1/a.yaml', /not an http\(s\) URL/],
      ['https://user:secret@127.0.0.1/a.yaml', /credentials in a URL are not sent/],
      ['http://127.0.0.1:1/a.yaml', /fetching it failed/],
    ] as const) {
      const { code, stderr } = await run(['diff', address, one])
      assert.equal(code, 2)
      assert.match(stderr, error)
    }
  })
})

suite('preflight rules', () => {
  test('lists each rule with its coordinates and level', async () => {
    const { code, stdout } = await run(['rules', '--format', 'json'])
    assert.equal(code, 0)
    const rules = listAt(JSON.parse(stdout), 'rules')
    assert.ok(rules.length > 1000)
    for (const rule of rules) {
      for (const name of ['rule', 'level', 'format', 'area', 'kind', 'action', 'effect', 'direction', 'description']) {
        assert.ok(textAt(rule, name) !== '', name)
      }
    }
  })

  test('is narrowed by a pattern, a kind of contract and a level', async () => {
    const { stdout } = await run(['rules', 'api-security-*tightened', '--type', 'openapi', '--level', 'breaking'])
    const ids = stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ')[0])
    assert.deepEqual(ids, ['api-security-scope-tightened', 'api-security-tightened'])
    assert.match((await run(['rules', 'api-security-t', '--format', 'markdown'])).stdout, /^\| rule \| level /)
    const none = await run(['rules', 'no-such-rule'])
    assert.equal(none.code, 2)
    assert.match(none.stderr, /no rule matches/)
  })

  test('is narrowed by coordinates, and a mistake in them is named with what may be meant', async () => {
    const { stdout } = await run(['rules', 'format:openapi,area:tags', '--format', 'json'])
    assert.deepEqual(
      listAt(JSON.parse(stdout), 'rules').map((rule) => textAt(rule, 'rule')),
      ['api-tag-added', 'api-tag-removed'],
    )
    const wrong = await run(['rules', 'area:tagz'])
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /no rule has the area "tagz"; did you mean "tags"\?/)
  })
})

suite('preflight diff --level', () => {
  const one = file(api({}))
  const two = file(api({}, ['/a', '/b']))

  test('takes an id, a pattern and coordinates', async () => {
    for (const rules of ['endpoint-added', 'endpoint-*', 'format:openapi,action:added']) {
      const { code } = await run(['diff', one, two, '--level', `${rules}=breaking`])
      assert.equal(code, 1, rules)
      assert.equal((await run(['diff', one, two, '--level', `${rules}=off`])).code, 0)
    }
  })

  test('refuses what selects nothing, with what may be meant', async () => {
    const { code, stderr } = await run(['diff', one, two, '--level', 'area:path=off'])
    assert.equal(code, 2)
    assert.match(stderr, /--level: no rule has the area "path"; did you mean "paths"\?/)
  })
})
