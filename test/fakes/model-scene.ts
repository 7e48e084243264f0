/** A route to a model provider that answers everything, and the outcomes of the calls in a table. */
import type { TestContext } from 'node:test'
import { startHttpUpstream } from './http-upstream.ts'
import { startProxy } from './proxy-under-test.ts'

/** `both`: judged, and held for a receipt. */
type Outcome = 'judged' | 'receipt' | 'both' | 'passes' | 'refused'
/** @property type of the body; application/json when absent */
export type CallRow = readonly [
  vendor: string,
  method: string,
  path: string,
  body: unknown,
  outcome: Outcome,
  type?: string,
]

export async function modelScene(t: TestContext, llm: object = {}) {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const proxy = await startProxy({
    routes: [{ name: 'model', match: { path: '/' }, upstream: upstream.origin, protocol: 'llm', llm }],
  })
  t.after(() => proxy.close())
  const send = async (method: string, path: string, body: unknown, type = 'application/json') => {
    const answer = await fetch(proxy.url + path, {
      method,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': type },
    })
    return { status: answer.status, body: await answer.text() }
  }
  return { proxy, upstream, send }
}

/** The outcome of one call, from its response and what reached the upstream. */
async function outcomeOf(
  { proxy, upstream, send }: Awaited<ReturnType<typeof modelScene>>,
  row: CallRow,
): Promise<Outcome> {
  const [, method, path, body, , type] = row
  const before = upstream.requests.length
  const asked = proxy.interceptions.length
  const judged = proxy.flow.asked.length
  const answer = await send(method, path, body, type)
  const hasArrived = upstream.requests.length > before
  if (hasArrived) return proxy.interceptions.length > asked ? 'judged' : 'passes'
  if (!answer.body.includes('PREFLIGHT_RECEIPT_REQUIRED')) return 'refused'
  return proxy.flow.asked.length > judged ? 'both' : 'receipt'
}

/** Calls of the table that had another outcome. */
export async function wrongOutcomes(
  scene: Awaited<ReturnType<typeof modelScene>>,
  rows: readonly CallRow[],
): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const row of rows) {
    const found = await outcomeOf(scene, row)
    if (found !== row[4])
      wrong.push(`${row[1]} ${row[2]} ${JSON.stringify(row[3]).slice(0, 120)}: ${found}, not ${row[4]}`)
  }
  return wrong
}
