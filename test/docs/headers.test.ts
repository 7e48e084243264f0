/** docs/reference/wire-headers.md against the gateway: headers are added and removed as the page says, and each has a row. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { ERRORS } from '../../gateway/errors/errors.ts'
import { PROTOCOLS } from '../../gateway/protocols/settings.ts'
import { clientHeaders, sentHead, type Sending } from '../../gateway/upstream/headers.ts'
import { namesIn, namesOf, pageText, rowsIn, sectionOf } from './page.ts'

const GATEWAY = join(import.meta.dirname, '../../gateway')

const SENDING: Sending = {
  trafficPath: 'reverse',
  correlationId: 'c',
  trace: null,
  origin: 'http://x.test',
  peer: '192.0.2.1',
  proto: 'http',
  upgrade: null,
  readsAnswer: true,
  carriesTrailers: true,
}

/** Names of the fields that leave, in small letters. */
function sent(names: readonly string[], changes: Partial<Sending> = {}): ReadonlySet<string> {
  const rawHeaders = names.flatMap((name) => [name, 'value'])
  const headers = Object.fromEntries(names.map((name) => [name.toLowerCase(), 'value']))
  const { rawHeaders: left } = sentHead({ headers, rawHeaders }, { ...SENDING, ...changes })
  return new Set(left.flatMap((name, index) => (index % 2 === 0 ? [name.toLowerCase()] : [])))
}

const removed = namesOf(sectionOf('wire-headers.md', 'request-removed').replaceAll(/`(?:Proxy|Preflight)-`/g, ''))

/** Headers of others that the sources name: of platforms and providers, or read of an answer. */
const OF_OTHERS =
  /^x-(?:amz-|goog-|ms-|oss-|cos-|obs-|copy-from$|mcp-|github-|ratelimit-reset$|ratelimit-remaining$|gzip$|preflight-files$)/

function headersInSources(): readonly string[] {
  const files = readdirSync(GATEWAY, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = files.flatMap((file) => {
    const text = readFileSync(join(GATEWAY, file), 'utf8')
    return [...text.matchAll(/'((?:X|x)-[A-Za-z-]+[A-Za-z]|Preflight-[A-Z][A-Za-z-]+)'/g)].map(([, name = '']) =>
      name.toLowerCase(),
    )
  })
  return [...new Set(found)].filter((name) => !OF_OTHERS.test(name))
}

suite('wire-headers.md', () => {
  test('names every header of our own that the sources name', () => {
    const named = new Set(
      [...namesIn(pageText('wire-headers.md') + pageText('api.md'))].map((name) => name.toLowerCase()),
    )
    assert.deepEqual(
      headersInSources().filter((name) => !named.has(name)),
      [],
    )
  })
  test('lists under removed what does not reach the upstream', () => {
    const left = sent([...removed, 'Proxy-Anything', 'Preflight-Anything'], { carriesTrailers: false })
    assert.deepEqual(
      [...removed, 'Proxy-Anything', 'Preflight-Anything'].filter((name) => left.has(name.toLowerCase())),
      [],
    )
    assert.ok(sent(['Accept', 'X-Other']).has('x-other'))
  })
  test('lists under added what the gateway adds', () => {
    const rows = rowsIn(sectionOf('wire-headers.md', 'request-added')).flatMap(([cell]) => namesOf(cell))
    const added = [...sent(['Host'])].filter((name) => name !== 'host')
    const listed = rows.map((name) => name.toLowerCase())
    assert.deepEqual(
      added.filter((name) => !listed.includes(name)),
      [],
    )
    const forwarded = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']
    assert.deepEqual([...sent(forwarded, { trafficPath: 'forward', readsAnswer: false })].slice(0, 3), forwarded)
  })
  test('lists what is removed of an answer', () => {
    const section = sectionOf('wire-headers.md', 'answer')
    const listed = namesOf(/removes these headers[^]*$/.exec(section)?.[0]).filter((name) => name !== 'Preflight-')
    const raw = [...listed, 'Preflight-Anything', 'X-Other'].flatMap((name) => [name, 'value'])
    assert.deepEqual(clientHeaders(raw, undefined, []), ['X-Other', 'value'])
  })
  test('gives refusals the status of their code', () => {
    for (const [, codes, statuses = ''] of rowsIn(sectionOf('wire-headers.md', 'refusals')).filter(
      (row) => row.length === 3,
    )) {
      const expected = statuses.split(', ').map(Number)
      assert.deepEqual(
        namesOf(codes).map((code) => Object.entries(ERRORS).find(([known]) => known === code)?.[1].status),
        expected,
      )
    }
  })
  test('has a form for every protocol', () => {
    const named = namesIn(sectionOf('wire-headers.md', 'refusals'))
    assert.deepEqual(
      Object.keys(PROTOCOLS).filter((name) => !named.has(name)),
      [],
      'docs/reference/wire-headers.md#refusals has a row for every protocol',
    )
  })
  test('has a page for every protocol', () => {
    const [table = ''] = readFileSync(new URL('../../docs/protocols/README.md', import.meta.url), 'utf8').split('\n## ')
    const named = namesIn(table)
    assert.deepEqual(
      Object.keys(PROTOCOLS).filter((name) => !named.has(name)),
      [],
      'docs/protocols/README.md has a row for every protocol',
    )
  })
})
