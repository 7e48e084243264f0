/** Each protocol has sections of its own; one that stands on a route of another protocol would hold nothing. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../gateway/config/load.ts'
import { SECTION_PROTOCOLS } from '../../gateway/config/protocol-checks.ts'
import { RouteSchema } from '../../gateway/protocols/route.ts'
import { PROTOCOLS } from '../../gateway/protocols/settings.ts'

const SECTIONS: readonly (readonly [section: string, value: unknown, protocols: readonly string[]])[] = [
  ['kubernetes', { receipts: [] }, ['kubernetes']],
  ['edits', {}, ['mcp']],
  ['argocd', {}, ['argocd']],
  ['npm', {}, ['npm']],
  ['grpc', {}, ['grpc']],
  ['graphql', { introspect: true }, ['graphql']],
  ['llm', {}, ['llm']],
  ['map', [{ action: 'pass' }], ['mapped']],
  ['otherwise', 'pass', ['mapped']],
  ['scm', { push: 'pass' }, ['github', 'gitlab', 'bitbucket']],
]

const NAMES = Object.keys(PROTOCOLS)

test('every section of the registry is in the schema of a route, and has a case here', () => {
  assert.ok(NAMES.length >= 13)
  assert.deepEqual(SECTION_PROTOCOLS, new Map(SECTIONS.map(([section, , protocols]) => [section, protocols])))
  for (const section of SECTION_PROTOCOLS.keys()) assert.ok(Object.hasOwn(RouteSchema.properties, section), section)
})

test('a section of another protocol is a mistake with its place, for every section and protocol', (t) => {
  for (const protocol of NAMES)
    for (const [section, value, own] of SECTIONS) {
      const route = { name: 'r', match: {}, protocol, upstream: 'http://127.0.0.1:9', [section]: value }
      const loaded = loadConfig({ value: { routes: [route] }, environment: {} })
      const reported = loaded.ok
        ? []
        : loaded.problem.filter(({ message }) => message.includes(`has no section ${section}:`))
      assert.equal(reported.length, own.includes(protocol) ? 0 : 1, `${protocol}, ${section}`)
    }
  const folder = mkdtempSync(join(tmpdir(), 'preflight-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'preflight.yaml')
  const route = ['name: r', 'match: {}', 'protocol: npm', 'upstream: http://127.0.0.1:9', 'argocd: {}']
  writeFileSync(file, `routes:\n  - ${route.join('\n    ')}\n`)
  const loaded = loadConfig({ file, environment: {} })
  const [mistake] = loaded.ok ? [] : loaded.problem
  assert.equal(mistake?.place, `${file}:6:5`)
  assert.match(mistake.message, /^a route of the protocol npm has no section argocd: it belongs to argocd/)
})
