/** Cursors and filters that no answer gave: of another tenant, of another list, negative, huge, or texts of SQL. Over both stores. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { startConsoleScene } from '../fakes/console-scene.ts'
import { visitorWith } from '../fakes/console-visitor.ts'
import { startPostgres, postgresMissing } from '../fakes/postgres-server.ts'
import { at, listAt, textAt } from '../json.ts'

const MERGE = { operation: 'merge', repository: 'acme/orders', environment: 'production' }
/** In the lists of the other tenant, and nowhere else. */
const FOREIGN = 'acme/foreign'

const FORGED = [
  '',
  '0',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  ' 1',
  '+1',
  '٣',
  '999999999999999',
  '9007199254740993',
  '9223372036854775808',
  '99999999999999999999999999',
  'NaN',
  'null',
  '[]',
  '1;DROP TABLE decisions',
  "1' OR '1'='1",
  "apr_1') OR 1=1--",
  '%00',
  '%ED%A0%80',
  '\u{FFFD}',
  'apr_none',
  'dec_none',
  'a'.repeat(5000),
]

const LISTS = [
  '/api/v1/ledger?limit=2&cursor=',
  '/api/v1/ledger?records=calls&limit=2&cursor=',
  '/api/v1/approvals?limit=2&cursor=',
  '/api/v1/ledger?limit=',
  '/api/v1/approvals?limit=',
  '/api/v1/ledger?repository=',
  '/api/v1/ledger?route=',
  '/api/v1/ledger?records=calls&correlation_id=',
  '/api/v1/ledger?trace_id=',
  '/api/v1/ledger?from=',
  '/api/v1/approvals?state=',
  '/api/v1/approvals/',
  '/api/v1/decisions/',
]
const PAGES = [
  '/console/approvals?after=',
  '/console/approvals?state=granted&after=',
  '/console/ledger?before=',
  '/console/ledger?records=calls&before=',
  '/console/ledger?repository=',
  '/console/ledger?from=',
  '/console/ledger?traceId=',
  '/console/approvals/',
  '/console/decisions/',
]

for (const [name, missing] of [
  ['SQLite', false],
  ['PostgreSQL', postgresMissing()],
] as const)
  suite(`lists over ${name}`, { skip: missing }, () => {
    const server = name === 'PostgreSQL' && missing === false ? startPostgres() : null
    after(async () => (await server)?.stop())

    test('a forged cursor is refused or finds nothing that is not the own, and never a fault', async (t) => {
      const config = server === null ? {} : { store: { url: await (await server).database() } }
      const scene = await startConsoleScene(t, config)
      const keyIn = async (tenant: string) => {
        const made = await scene.api('POST', '/api/v1/keys', { name: tenant, role: 'admin', tenant })
        assert.equal(made.status, 201, JSON.stringify(made.body))
        return textAt(made.body, 'api_key')
      }
      const [own, foreign] = [await keyIn('local'), await keyIn('team-b')]
      for (let n = 0; n < 4; n += 1) {
        await scene.ask({ ...MERGE, pull_request: n }, undefined, own)
        await scene.ask({ ...MERGE, repository: FOREIGN, pull_request: n }, undefined, foreign)
      }
      const theirs = listAt((await scene.api('GET', '/api/v1/approvals', undefined, foreign)).body, 'approvals')
      const decisions = listAt((await scene.api('GET', '/api/v1/ledger', undefined, foreign)).body, 'entries')
      assert.ok(theirs.length > 1 && decisions.length > 1)
      const forged = [
        ...FORGED,
        ...theirs.map((row) => textAt(row, 'id')),
        ...decisions.flatMap((row) => [textAt(row, 'decision_id'), String(at(row, 'sequence'))]),
      ]
      const visitor = await visitorWith(scene.url, own)
      assert.equal((await visitor.get('/console/approvals')).status, 200)
      const wrong: string[] = []
      for (const path of LISTS)
        for (const cursor of forged) {
          const text = cursor.startsWith('%') ? cursor : encodeURIComponent(cursor)
          const { status, body } = await scene.api('GET', `${path}${text}`, undefined, own)
          const isSeen = JSON.stringify(body).includes(FOREIGN)
          if (![200, 400, 404].includes(status) || isSeen) wrong.push(`${path}${text.slice(0, 40)}: ${status}`)
        }
      for (const path of PAGES)
        for (const cursor of forged) {
          const text = cursor.startsWith('%') ? cursor : encodeURIComponent(cursor)
          const answer = await visitor.get(`${path}${text}`)
          const isSeen = (await answer.text()).includes(FOREIGN)
          if (answer.status >= 500 || isSeen) wrong.push(`${path}${text.slice(0, 40)}: ${answer.status}`)
        }
      assert.deepEqual(wrong, [])
      assert.equal((await fetch(`${scene.gateway.addresses.admin}/readyz`)).status, 200)
    })
  })
