/** The traffic of the soak: every kind of call that a gateway meets in a day, each a small function that ends by itself. */
import { connect } from 'node:net'
import { Agent, request } from 'undici'
import { CONTRACT, TRAFFIC } from '../proxy/payload.ts'

export interface SoakTarget {
  readonly proxy: string
  readonly api: string
  readonly admin: string
  readonly apiKey: string
}

/** The outcome of one call: the status, or why there is none. */
export type CallOutcome = `${number}` | 'aborted' | 'failed'

type Call = (target: SoakTarget, turn: number) => Promise<CallOutcome>

const agent = new Agent({ connections: 16 })

async function send(
  url: string,
  method: 'GET' | 'POST',
  body: string | null,
  key: string | null,
): Promise<CallOutcome> {
  const headers = {
    ...(body !== null && { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }),
    ...(key !== null && { authorization: `Bearer ${key}` }),
  }
  const answer = await request(url, { method, headers, body, dispatcher: agent })
  await answer.body.dump()
  return `${answer.statusCode}`
}

const contractText = JSON.stringify(CONTRACT)
/** A contract that is another one each turn, so that nothing is answered from a cache. */
function changedContract(turn: number): string {
  return JSON.stringify({ ...CONTRACT, info: { title: 'bench', version: `1.0.${turn}` }, paths: {} })
}

/** Opens a connection, sends half a call and goes. */
function abort({ proxy }: SoakTarget): Promise<CallOutcome> {
  const { hostname, port } = new URL(proxy)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{')
      setTimeout(() => socket.destroy(), 20)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve('aborted'))
  })
}

/** Weight: of a hundred calls so many. */
export const CALLS: readonly { readonly name: string; readonly weight: number; readonly call: Call }[] = [
  { name: 'http call', weight: 40, call: ({ proxy }) => send(`${proxy}/echo`, 'POST', TRAFFIC.http.body, null) },
  { name: 'mcp tool call', weight: 30, call: ({ proxy }) => send(`${proxy}/mcp`, 'POST', TRAFFIC.mcp.body, null) },
  {
    name: 'call that cannot be read',
    weight: 6,
    call: ({ proxy }) => send(`${proxy}/mcp`, 'POST', '{"jsonrpc":"2.0","id":1,"id":2}', null),
  },
  { name: 'call of no route', weight: 3, call: ({ proxy }) => send(`${proxy}/nowhere`, 'GET', null, null) },
  { name: 'client that aborts', weight: 4, call: abort },
  {
    name: 'authorize',
    weight: 4,
    call: ({ api, apiKey }, turn) =>
      send(
        `${api}/api/v1/preflight`,
        'POST',
        JSON.stringify({
          preflight_mode: 'authorize',
          artifacts: [{ id: 'api', type: 'openapi', before: contractText, after: changedContract(turn) }],
          context: { operation: 'deploy', repository: `org/repo-${turn % 50}` },
        }),
        apiKey,
      ),
  },
  {
    name: 'diff',
    weight: 4,
    call: ({ api, apiKey }, turn) =>
      send(`${api}/api/diff`, 'POST', JSON.stringify({ base: contractText, head: changedContract(turn) }), apiKey),
  },
  {
    name: 'ledger page',
    weight: 3,
    call: ({ api, apiKey }) => send(`${api}/api/v1/ledger?limit=20`, 'GET', null, apiKey),
  },
  {
    name: 'wrong key',
    weight: 3,
    call: ({ api }) => send(`${api}/api/v1/ledger`, 'GET', null, 'pf_test_nobody_0123456789abcdef'),
  },
  { name: 'metrics', weight: 3, call: ({ admin }) => send(`${admin}/metrics`, 'GET', null, null) },
]

const TABLE = CALLS.flatMap(({ weight }, index) => Array.from({ length: weight }, () => index))

/** The call of a turn: each kind as often as its weight, evenly mixed. */
export function callOf(turn: number): (typeof CALLS)[number] {
  // 37 and the length of the table have no common factor: neighbours differ.
  const found = CALLS[TABLE[(turn * 37) % TABLE.length] ?? 0]
  if (found === undefined) throw new Error('the table of calls is empty')
  return found
}

export async function closeTraffic(): Promise<void> {
  await agent.close()
}
