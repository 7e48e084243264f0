/**
 * The paths to which the installed SDKs of model providers write, read from their compiled sources: each is judged by its tools,
 * takes a receipt, or carries no tools. A version of an SDK with a path that no row has fails here.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

const MODULES = join(import.meta.dirname, '../../node_modules')

const uncommented = (source: string): string => source.replaceAll(/\/\*[^]*?\*\//g, '')
const withoutNames = (path: string): string => path.replaceAll(/\$?\{\w[^}]*\}/g, 'x').replace(/\?.*$/, '')

function sourcesOf(folder: string, ending: string): string {
  const names = readdirSync(join(MODULES, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith(ending),
  )
  return names.map((name) => uncommented(readFileSync(join(MODULES, folder, name), 'utf8'))).join('\n')
}

/** Those of openai and of Anthropic: `this._client.post('/path'` or a template of a path. */
function clientPaths(folder: string): readonly string[] {
  const calls = sourcesOf(folder, '.mjs').matchAll(
    /_client\s*\.\s*(?:post|put|patch)\(\s*(?:path\s*)?(`[^`]*`|'[^']*')/g,
  )
  return [...calls].map(([, path = '']) => withoutNames(path.slice(1, -1)))
}

function geminiPaths(): readonly string[] {
  const source = uncommented(readFileSync(join(MODULES, '@google/genai/dist/node/index.mjs'), 'utf8'))
  return [...source.matchAll(/(?:pathToFunc\("|formatMap\(')([^"']+)["']/g)].flatMap(({ 1: path = '', index }) => {
    const method = /(?:\bmethod|httpMethod): ["'](\w+)["']/.exec(source.slice(index, index + 4000))?.[1]
    return method === 'GET' || method === 'DELETE' ? [] : [`/${withoutNames(path).replace(/^\//, '')}`]
  })
}

function bedrockPaths(): readonly string[] {
  const source = sourcesOf('@aws-sdk/client-bedrock-runtime/dist-cjs', '.js')
  return [...source.matchAll(/"(?:POST|PUT|PATCH)", "([^"]+)"/g)].map(({ 1: path = '' }) => withoutNames(path))
}

function ollamaPaths(): readonly string[] {
  const source = sourcesOf('ollama/dist', '.mjs')
  const streamed = source.matchAll(/processStreamableRequest\("(\w+)"/g)
  const posted = source.matchAll(/post\(this\.fetch, `[^`]*?(\/api\/\w+)`/g)
  return [...[...streamed].map(([, name]) => `/api/${name}`), ...[...posted].map(({ 1: path = '' }) => path)]
}

const SDKS: Readonly<Record<string, { readonly paths: () => readonly string[]; readonly least: number }>> = {
  openai: { paths: () => clientPaths('openai/resources'), least: 90 },
  anthropic: { paths: () => clientPaths('@anthropic-ai/sdk/resources'), least: 60 },
  gemini: { paths: geminiPaths, least: 30 },
  bedrock: { paths: bedrockPaths, least: 8 },
  ollama: { paths: ollamaPaths, least: 8 },
}

/** `tools`: the body may hold tools, or name what keeps them. `receipt`: whatever the body holds. `none`: neither. The first row that fits counts. */
type Kind = 'tools' | 'receipt' | 'none'
interface Row {
  readonly path: RegExp
  readonly kind: Kind
  readonly because: string
}

const ROWS: readonly Row[] = [
  { path: /^\/(?:v1\/)?organizations?\/|^\/projects\//, kind: 'none', because: 'administration of an account' },
  { path: /\/(?:cancel|archive|pause|unarchive)$|:cancel$/, kind: 'none', because: 'it ends or halts something' },
  {
    path: /^\/chat\/completions$|^\/responses$|^\/responses\/compact$|^\/v1\/messages$/,
    kind: 'tools',
    because: 'a call of a model',
  },
  { path: /^\/v1\/messages\/batches$/, kind: 'tools', because: 'calls of a model' },
  {
    path: /:(?:stream)?generateContent$|:batchGenerateContent$|^\/batchPredictionJobs$|:predict$/i,
    kind: 'tools',
    because: 'calls of a model',
  },
  {
    path: /^\/model\/x\/(?:converse|converse-stream|invoke|invoke-with-response-stream|invoke-with-bidirectional-stream)$/,
    kind: 'tools',
    because: 'a call of a model',
  },
  { path: /^\/async-invoke$|^\/api\/chat$/, kind: 'tools', because: 'a call of a model' },
  {
    path: /^\/(?:realtime|live)\/(?:sessions|client_secrets|calls)(?:\/x\/(?:accept|fork))?$/,
    kind: 'tools',
    because: 'a session has tools',
  },
  {
    path: /^\/auth_tokens$|^\/cachedContents$|\/interactions$|\/triggers(?:\/x)?$/,
    kind: 'tools',
    because: 'it keeps tools, or runs with them',
  },
  { path: /^\/(?:assistants|v1\/agents|agents|x\/agents)(?:\/x)?$/, kind: 'tools', because: 'an agent has tools' },
  {
    path: /^\/(?:agents|v1)\/sessions(?:\/x)?$|^\/v1\/deployments(?:\/x)?$/,
    kind: 'tools',
    because: 'a session runs an agent',
  },
  { path: /^\/threads\/(?:x\/)?runs$/, kind: 'tools', because: 'a run of an assistant' },
  { path: /^\/conversations(?:\/x\/items)?$/, kind: 'tools', because: 'items of a conversation may be lists of tools' },
  {
    path: /^\/batches$|^\/evals\/x\/runs$|^\/chatkit\/sessions$/,
    kind: 'receipt',
    because: 'what it runs is kept elsewhere',
  },
  {
    path: /\/sessions\/x\/events$|^\/v1\/deployments\/x\/(?:run|unpause)$/,
    kind: 'receipt',
    because: 'it runs a stored agent',
  },
  {
    path: /^\/agents\/automations\/x\/(?:invocations|resume)$|\/triggers\/x\/executions$/,
    kind: 'receipt',
    because: 'it runs a stored agent',
  },
  { path: /^\/agents\/automations(?:\/x)?$/, kind: 'tools', because: 'its target is an agent' },
  {
    path: /^\/chat\/completions\/x$|^\/conversations\/x$|^\/threads(?:\/x)?$|^\/threads\/x\/messages(?:\/x)?$|^\/evals(?:\/x)?$/,
    kind: 'none',
    because: 'labels, messages, or what a later call runs',
  },
  { path: /^\/threads\/x\/runs\/x(?:\/submit_tool_outputs)?$/, kind: 'none', because: 'results of tools, labels' },
  {
    path: /^\/(?:audio|images|videos|moderations|completions|decisions|content_provenance_checks)(?:\/|$)/,
    kind: 'none',
    because: 'a model without tools',
  },
  {
    path: /^\/(?:v1\/)?(?:files|uploads|vector_stores|containers|skills|vaults|memory_stores|tunnels|user_profiles|environments|dreams|webhook_endpoints)(?:\/|$)/,
    kind: 'none',
    because: 'what is kept, for later calls that name it',
  },
  { path: /^\/agents\/environments(?:\/|$)/, kind: 'none', because: 'what is kept, for later calls that name it' },
  { path: /^\/v1\/sessions\/x\/(?:resources|threads)(?:\/|$)/, kind: 'none', because: 'files of a session' },
  { path: /^\/fine_tuning\/|^\/tunedModels$|\/?tuningJobs(?::|$)/, kind: 'none', because: 'training' },
  {
    path: /^\/(?:realtime|live)\/(?:calls|sessions)\/x\/(?:hangup|refer|reject)$/,
    kind: 'none',
    because: 'it ends or hands over a call',
  },
  {
    path: /^\/realtime\/(?:transcription_sessions|translations\/client_secrets)$/,
    kind: 'none',
    because: 'a model without tools',
  },
  {
    path: /\/(?:input_tokens|count_tokens|count-tokens)$|:(?:count|compute)Tokens$/,
    kind: 'none',
    because: 'it counts',
  },
  { path: /:(?:async)?batchEmbedContents?$|^\/api\/embed(?:dings)?$/i, kind: 'none', because: 'a model without tools' },
  {
    path: /:predictLongRunning$|:fetchPredictOperation$|\/tuningJobs:validate\w+$/,
    kind: 'none',
    because: 'a model without tools',
  },
  { path: /^\/guardrail(?:-checks)?\//, kind: 'none', because: 'a check of texts' },
  {
    path: /^\/upload\/|^\/files|^\/fileSearchStores$|:importFile$|^\/x\/(?:credentials|environments|webhooks|voices)(?:\/|$)|^\/x\/documents$/,
    kind: 'none',
    because: 'what is kept, for later calls that name it',
  },
  { path: /^\/x$/, kind: 'none', because: 'names and labels of what is kept' },
  {
    path: /^\/api\/(?:generate|create|pull|push|copy|show|web_search|web_fetch)$/,
    kind: 'none',
    because: 'no tools in these calls',
  },
]

const rowOf = (path: string): Row | undefined => ROWS.find((row) => row.path.test(path))

suite('the paths to which SDKs write', () => {
  for (const [name, { paths, least }] of Object.entries(SDKS))
    test(`${name}: each is known`, () => {
      const found = [...new Set(paths())]
      assert.ok(found.length >= least, `only ${found.length} paths were found: the sources are written otherwise now`)
      assert.deepEqual(
        found.filter((path) => rowOf(path) === undefined),
        [],
      )
    })

  test('every row has a path', () => {
    const found = Object.values(SDKS).flatMap(({ paths }) => paths())
    assert.deepEqual(
      ROWS.filter((row) => !found.some((path) => rowOf(path) === row)).map(({ path }) => String(path)),
      [],
    )
  })

  test('tools are judged at each that takes some, whatever the body is said to be; stored ones take a receipt', async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    t.after(() => upstream.close())
    const routes = [{ name: 'model', match: { path: '/' }, upstream: upstream.origin, protocol: 'llm' }]
    const proxy = await startProxy({ routes })
    t.after(() => proxy.close())
    const passed: string[] = []
    for (const [sdk, { paths }] of Object.entries(SDKS))
      for (const path of new Set(paths())) {
        const kind = rowOf(path)?.kind
        if (kind === 'none' || kind === undefined) continue
        const tools = [{ type: 'function', name: `wipe ${sdk} ${path}`, parameters: { type: 'object' } }]
        for (const type of ['application/json', 'application/octet-stream', 'application/vnd.amazon.eventstream']) {
          const body = kind === 'receipt' ? '{}' : JSON.stringify({ tools })
          const judged = proxy.interceptions.length
          const arrived = upstream.requests.length
          const answer = await fetch(proxy.url + path, { method: 'POST', body, headers: { 'content-type': type } })
          const text = await answer.text()
          const hasArrived = upstream.requests.length > arrived
          const isJudged = proxy.interceptions.length > judged
          if (kind === 'receipt' ? hasArrived || !/RECEIPT|STOP/.test(text) : hasArrived && !isJudged)
            passed.push(`${sdk} ${path} as ${type}`)
        }
      }
    assert.deepEqual(passed, [])
  })
})
