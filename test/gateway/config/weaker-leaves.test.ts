/** Reloads that enforce less: every row of the table is found in its direction, and refused where the configuration says so. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openSettings, type Reload } from '../../../gateway/config/live-settings.ts'
import { ConfigError } from '../../../gateway/errors/mistake.ts'

const ROUTE = { name: 'shop', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'http' }
const routed = (rest: object) => ({
  routes: [{ ...ROUTE, contract: { current: { file: 'openapi.json' } }, ...rest }],
})

/** Path of the weaker setting, the stricter settings, the weaker ones. */
const ROWS: readonly (readonly [path: string, stricter: object, weaker: object])[] = [
  ['policy', { policy: 'strict' }, { policy: 'default' }],
  ['policy', { policy: 'default' }, { policy: 'observe' }],
  ['proxy_auth', { proxy_auth: 'required' }, { proxy_auth: 'off' }],
  ['egress.default', { egress: { default: 'deny' } }, { egress: { default: 'allow' } }],
  ['egress.allow: a.example', { egress: {} }, { egress: { allow: ['a.example'] } }],
  ['egress.tunnel: a.example', { egress: {} }, { egress: { tunnel: ['a.example'] } }],
  ['egress.deny: a.example', { egress: { deny: ['a.example'] } }, { egress: {} }],
  ['tier', { tier: 'gateway' }, { tier: 'sidecar' }],
  ['approvals.four_eyes', {}, { approvals: { four_eyes: false } }],
  ['signup.enabled', { signup: { enabled: false } }, { signup: { enabled: true } }],
  ['policy_pin', { policy_pin: `sha256:${'0'.repeat(64)}` }, {}],
  ['diff.allow_urls: a.example', {}, { diff: { allow_urls: ['a.example'] } }],
  ['break_glass.roles: approver', {}, { break_glass: { roles: ['admin', 'approver'] } }],
  ['routes.shop', routed({}), { routes: [] }],
  ['routes.shop.mode', routed({}), routed({ mode: 'observe' })],
  ['routes.shop.failure', routed({}), routed({ failure: 'open' })],
  ['routes.shop.validate', routed({ validate: 'enforce' }), routed({ validate: 'off' })],
  ['routes.shop.receipts.require', routed({ receipts: { require: true } }), routed({})],
  ['routes.shop.receipts.accept', routed({}), routed({ receipts: { accept: true } })],
  ['routes.shop.upgrade', routed({}), routed({ upgrade: 'allow' })],
]

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-weaker-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(
    join(directory, 'openapi.json'),
    JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths: {} }),
  )
  const file = join(directory, 'config.json')
  const write = (value: object) => writeFileSync(file, JSON.stringify(value))
  return { file, write }
}

function pathsOf(reload: Reload): readonly string[] {
  return reload.result === 'unchanged' ? [] : reload.weaker.map(({ path }) => path)
}

for (const [path, stricter, weaker] of ROWS)
  test(`a reload that weakens ${path} says so, is refused on request, and its opposite is not`, (t) => {
    const { file, write } = scene(t)
    write(stricter)
    const live = openSettings({ file, environment: {} })
    write(weaker)
    const applied = live.reload()
    assert.equal(applied.result, 'applied')
    assert.ok(pathsOf(applied).includes(path), pathsOf(applied).join())
    write(stricter)
    assert.ok(!pathsOf(live.reload()).includes(path), 'the opposite is not a weakening')

    write({ ...stricter, reload: 'refuse_weaker' })
    const strict = openSettings({ file, environment: {} })
    const before = strict.current()
    write({ ...weaker, reload: 'refuse_weaker' })
    assert.equal(strict.reload().result, 'refused')
    assert.equal(strict.current(), before)
    assert.ok(strict.pendingMistakes().some((mistake) => mistake.path === path))
  })

test('an empty file is a mistake at the start and at a reload', (t) => {
  for (const text of ['', '\n', '# all gone\n', '---\n', 'null']) {
    const { file, write } = scene(t)
    write({ policy: 'strict', proxy_auth: 'required' })
    const live = openSettings({ file, environment: {} })
    writeFileSync(file, text)
    assert.equal(live.reload().result, 'refused', JSON.stringify(text))
    assert.equal(live.current().config.proxy_auth, 'required')
    assert.throws(() => openSettings({ file, environment: {} }), ConfigError)
  }
})
