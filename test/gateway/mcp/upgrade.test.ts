/** An operator's minute: a published MCP server that nobody here owns is upgraded, a call is refused, the upgrade is accepted, the next call is good. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startAgent } from '../../fakes/agent.ts'
import { run } from '../../fakes/command-io.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { startStdioServer } from '../../fakes/stdio-bridge.ts'
import { writtenRoutes } from '../../fakes/written-routes.ts'
import { at, listAt, textAt } from '../../json.ts'

/** One address behind which the server can be exchanged, as a deployment does it. */
async function startAddress(t: TestContext, first: string): Promise<{ readonly url: string; to(next: string): void }> {
  let target = new URL(first)
  const server = createServer((incoming, response) => {
    const outgoing = request(
      {
        host: target.hostname,
        port: target.port,
        path: incoming.url,
        method: incoming.method,
        headers: incoming.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    url: `http://127.0.0.1:${address.port}`,
    to(next) {
      target = new URL(next)
    },
  }
}

for (const way of ['api', 'command line'] as const) {
  test(`an upgrade that breaks a tool is announced once, refused with the way to accept it, and accepted by ${way} without touching a file`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'preflight-upgrade-'))
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
    const before = await startStdioServer(t, 'server-filesystem-before/dist/index.js', [folder])
    const after = await startStdioServer(t, '@modelcontextprotocol/server-filesystem/dist/index.js', [folder])
    const place = await startAddress(t, before)
    const gateway = await startTestGateway(t, {
      routes: [{ name: 'files', match: { path: '/' }, upstream: place.url, protocol: 'mcp', contract: { refresh: 0 } }],
    })
    const agent = async () => {
      const started = await startAgent(`${gateway.addresses.proxy}/mcp`)
      t.after(() => started.close())
      return started.client
    }
    let client = await agent()
    const move = (name: string) => {
      writeFileSync(join(folder, name), 'text')
      const names = { source: join(folder, name), destination: join(folder, `${name}.moved`) }
      return client.callTool({ name: 'move_file', arguments: names })
    }
    // What the first version offers is pinned by the first listing and call.
    assert.ok((await client.listTools()).tools.some(({ name }) => name === 'move_file'))
    await client.callTool({ name: 'list_allowed_directories', arguments: {} })

    place.to(after)
    client = await agent()
    const refused = await move('two')
    assert.equal(refused.isError, true)
    await move('two')
    const reported: unknown = refused.structuredContent
    const digest = textAt(reported, 'candidate', 'digest')
    assert.match(JSON.stringify(at(reported, 'candidate', 'changes')), /MCP_TOOL_BECAME_DESTRUCTIVE|destructive/i)
    const command = textAt(reported, 'candidate', 'accept', 'command')
    assert.equal(command, `preflight baselines promote files ${digest} --comment "WHY"`)
    assert.match(JSON.stringify(refused.content), new RegExp(digest))

    const seen = gateway.log.filter(({ event }) => event === 'baseline.candidate_seen')
    assert.deepEqual(
      seen.map((line) => line['digest']),
      [digest],
    )
    assert.match(await gateway.metrics.text(), /preflight_baseline_candidates_total\{route="files"\} 1/)

    if (way === 'api') {
      const answer = await fetch(gateway.addresses.api + textAt(reported, 'candidate', 'accept', 'api', 'path'), {
        method: textAt(reported, 'candidate', 'accept', 'api', 'method'),
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(at(reported, 'candidate', 'accept', 'api', 'body')),
      })
      assert.equal(answer.status, 200, await answer.text())
    } else {
      const { data_dir: dataDir, routes } = {
        data_dir: gateway.dataDir,
        routes: writtenRoutes(gateway.settings().config.routes),
      }
      const config = join(folder, 'preflight.json')
      writeFileSync(config, JSON.stringify({ data_dir: dataDir, routes }))
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
      const done = await run([...words.slice(1), '--config', config])
      assert.equal(done.code, 0, done.stderr)
      await new Promise((resolve) => setTimeout(resolve, 1100))
    }
    const good = await move('three')
    assert.notEqual(good.isError, true, JSON.stringify(good))
    const ledger: unknown = await (
      await fetch(`${gateway.addresses.api}/api/v1/ledger?operation=register`, {
        headers: { authorization: `Bearer ${TEST_KEY}` },
      })
    ).json()
    assert.ok(listAt(ledger, 'entries').some((row) => listAt(row, 'warnings').includes('BREAK_ACCEPTED')))
  })
}
