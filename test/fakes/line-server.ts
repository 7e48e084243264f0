/**
 * An MCP server over its standard streams without a library, so that it can do what no library does. What it offers is
 * read from the JSON file of its first argument at each listing.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Incoming {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> }
  readonly result?: unknown
}

const [, , file = ''] = process.argv
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] })
const waiting = new Map<string | number, (result: unknown) => void>()
const received: string[] = []

/** More levels than a reader that calls itself for each has. */
const DEEP = 200_000

const held: (() => void)[] = []

/** Answers that clients cannot match to their request. */
function answerAs(as: string, id: string | number): void {
  const result = text('odd')
  if (as === 'marked') process.stdout.write(`\uFEFF${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  else if (as === 'other type') send({ id: typeof id === 'number' ? String(id) : Number(id), result })
  else if (as === 'null') send({ id: null, error: { code: -32_700, message: 'no JSON' } })
  else if (as === 'none') send({ result })
  else send({ id: { id }, result })
}

/** By the name of the tool. */
const TOOLS: Readonly<Record<string, (id: string | number, args: Readonly<Record<string, unknown>>) => void>> = {
  echo: (id, args) => send({ id, result: text(JSON.stringify(args)) }),
  big: (id, args) => send({ id, result: text('x'.repeat(Number(args['size']))) }),
  crash: () => process.exit(7),
  silent: () => {},
  noise: (id) => {
    process.stdout.write('a line for people\n')
    send({ id, result: text('done') })
  },
  steps: (id) => {
    for (let progress = 1; progress <= 3; progress += 1)
      send({ method: 'notifications/progress', params: { progressToken: 'steps', progress } })
    send({ id, result: text('done') })
  },
  ask: (id) => {
    waiting.set('ask-1', (result) => send({ id, result: text(JSON.stringify(result)) }))
    send({ id: 'ask-1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
  },
  alone: (id) => void process.stdout.write(`[${JSON.stringify({ jsonrpc: '2.0', id, result: text('alone') })}]\n`),
  nested: (id, args) => {
    const deep = `{"uri":"a:b","x":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`
    const around: Readonly<Record<string, string>> = {
      result: `"id":${JSON.stringify(id)},"result":{"content":[${deep}]}`,
      notification: `"method":"notifications/resources/updated","params":${deep}`,
      request: `"id":"deep","method":"roots/list","params":${deep}`,
    }
    process.stdout.write(`{"jsonrpc":"2.0",${around[String(args['as'])]}}\n`)
    if (args['as'] !== 'result') send({ id, result: text('done') })
  },
  odd: (id, args) => answerAs(String(args['as']), id),
  /** Waits for the call of `release`. */
  late: (id) => void held.push(() => send({ id, result: text('late') })),
  release: (id) => {
    for (const answer of held.splice(0)) answer()
    send({ id, result: text('released') })
  },
  received: (id) => send({ id, result: text(JSON.stringify(received)) }),
}

createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  received.push(line)
  const { id, method, params, result }: Incoming = JSON.parse(line)
  if (id === undefined) return
  if (method === undefined) {
    waiting.get(id)?.(result)
    return
  }
  if (method === 'initialize') {
    const serverInfo = { name: 'line-server', version: '1.0.0' }
    return send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } })
  }
  if (method === 'tools/list') return send({ id, result: { tools: JSON.parse(readFileSync(file, 'utf8')) } })
  if (method === 'ping') return send({ id, result: {} })
  const tool = TOOLS[params?.name ?? '']
  if (method !== 'tools/call' || tool === undefined)
    return send({ id, error: { code: -32_601, message: `no ${method} here` } })
  tool(id, params?.arguments ?? {})
})
