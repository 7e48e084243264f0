/** Where calls may go that name their destination themselves: what each list lets through, and what no wide entry opens. */
import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { test } from 'node:test'
import { canonicalAddress, specialRange } from '../../../gateway/network/address.ts'
import { readAuthority } from '../../../gateway/network/authority.ts'
import { readHostRule } from '../../../gateway/network/host-rule.ts'
import { createEgress, EgressDenied, type Egress } from '../../../gateway/upstream/egress-policy.ts'

interface Lists {
  readonly default?: 'allow' | 'deny'
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly own?: number
}

function egress({ default: fallback = 'deny', allow = [], deny = [], own }: Lists): Egress {
  const lists = { default: fallback, allow: [...allow], deny: [...deny], tunnel: [], idle: 600 }
  return createEgress({ egress: lists, isOwn: (_address, port) => port === own })
}

function reason(policy: Egress, destination: string, isRouted = false): string | null {
  const read = readAuthority(destination, null)
  assert.ok(read.ok, destination)
  return policy.denialOf(read.authority, isRouted)?.reason ?? null
}

for (const [allow, destination, expected] of [
  ['api.example', 'api.example:443', null],
  ['api.example', 'API.Example:8443', null],
  ['api.example', 'www.api.example:443', 'not_allowed'],
  ['api.example:443', 'api.example:80', 'not_allowed'],
  ['*.example', 'a.b.example:443', null],
  ['*.example', 'example:443', 'not_allowed'],
  ['*.example', 'badexample:443', 'not_allowed'],
  ['*.example:443', 'a.example:8443', 'not_allowed'],
  ['bücher.example', 'xn--bcher-kva.example:443', null],
  ['93.184.216.34', '93.184.216.34:443', null],
  ['93.184.216.0/24', '93.184.216.34:443', null],
  ['93.184.217.0/24', '93.184.216.34:443', 'not_allowed'],
  ['2606:4700::/32', '[2606:4700:4700::1111]:443', null],
  ['10.0.0.0/8', '10.1.2.3:443', null],
  ['10.0.0.0/8', '[::ffff:10.1.2.3]:443', null],
  ['10.1.2.3', '10.1.2.4:443', 'not_allowed'],
  ['0.0.0.0/0', '10.1.2.3:443', 'special_address'],
  ['0.0.0.0/0', '93.184.216.34:443', null],
  ['0.0.0.0/0', '169.254.169.254:80', 'metadata'],
  ['169.254.0.0/16', '169.254.1.1:80', null],
  ['169.254.0.0/16', '169.254.169.254:80', 'metadata'],
  ['169.254.169.254', '169.254.169.254:80', null],
  ['127.0.0.0/8', '127.0.0.1:3000', null],
  ['127.0.0.1:3000', '127.0.0.1:3001', 'not_allowed'],
  ['::/0', '[::1]:80', 'special_address'],
  ['::1', '[0:0:0:0:0:0:0:1]:80', null],
  ['*.internal', 'metadata.google.internal:80', null],
] as const) {
  test(`allow ${allow}: ${destination} is ${expected ?? 'let through'}`, () => {
    assert.equal(reason(egress({ allow: [allow] }), destination), expected)
  })
}

test('the default decides about what no list names, and never about addresses inside', () => {
  const open = egress({ default: 'allow' })
  assert.equal(reason(open, 'api.example:443'), null)
  for (const inside of ['127.0.0.1', '10.0.0.1', '192.168.1.1', '172.16.0.1', '0.0.0.0', '100.64.0.1', '[fe80::1]'])
    assert.equal(reason(open, `${inside}:80`), 'special_address', inside)
  for (const metadata of ['169.254.169.254', '[fd00:ec2::254]', 'metadata.google.internal', '100.100.100.200'])
    assert.equal(reason(open, `${metadata}:80`), 'metadata', metadata)
})

test('a request to a cloud metadata address is reported as such, also where the default would refuse it', () => {
  const closed = egress({ allow: ['api.example'] })
  for (const metadata of ['169.254.169.254', '[fd00:ec2::254]', 'metadata.google.internal', '100.100.100.200'])
    assert.equal(reason(closed, `${metadata}:80`), 'metadata', metadata)
  assert.equal(reason(closed, '169.254.1.1:80'), 'not_allowed')
})

test('deny wins over allow and over a route', () => {
  const policy = egress({ default: 'allow', allow: ['api.example', '10.0.0.0/8'], deny: ['*.example', '10.9.0.0/16'] })
  assert.equal(reason(policy, 'api.example:443'), 'denied')
  assert.equal(reason(policy, 'api.example:443', true), 'denied')
  assert.equal(reason(policy, '10.9.1.1:443', true), 'denied')
  assert.equal(reason(policy, '10.8.1.1:443'), null)
})

test('a route that names the host lets it through, and the very address when it is one', () => {
  assert.equal(reason(egress({}), 'api.example:443', true), null)
  assert.equal(reason(egress({}), '10.1.2.3:443', true), null)
  assert.equal(reason(egress({}), 'metadata.google.internal:80', true), 'metadata')
})

test('the gateway itself is not a destination, whatever is allowed', () => {
  const policy = egress({ default: 'allow', allow: ['127.0.0.1'], own: 15_080 })
  assert.equal(reason(policy, '127.0.0.1:15080', true), 'own_listener')
})

test('a denial says what to add to the configuration', () => {
  const read = readAuthority('api.example:443', null)
  assert.ok(read.ok)
  assert.match(egress({}).denialOf(read.authority, false)?.message ?? '', /Add "api\.example:443" to egress\.allow/)
})

function resolve(policy: Egress, host: string): Promise<readonly LookupAddress[]> {
  return new Promise((done, failed) => {
    policy.lookupFor({ host, port: 80 })(host, { all: true }, (error, addresses) => {
      if (error !== null) failed(error)
      else done(typeof addresses === 'string' ? [] : addresses)
    })
  })
}

test('a name that resolves to an address inside is refused although the name is allowed', async () => {
  await assert.rejects(resolve(egress({ allow: ['localhost'] }), 'localhost'), (error: unknown) => {
    assert.ok(error instanceof EgressDenied)
    assert.equal(error.denial.reason, 'special_address')
    assert.match(error.message, /localhost is at .*loopback address.*add ".*" .*to egress\.allow/)
    return true
  })
  const named = await resolve(egress({ allow: ['localhost', '127.0.0.0/8', '::1'] }), 'localhost')
  assert.ok(named.length > 0)
})

test('an address has one spelling; what only some systems read as an address is none', () => {
  for (const [text, expected] of [
    ['::FFFF:7F00:1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['fe80::1%eth0', null],
    ['127.1', null],
    ['0177.0.0.1', null],
    ['2130706433', null],
    ['0x7f000001', null],
    ['localhost', null],
  ] as const)
    assert.equal(canonicalAddress(text), expected, text)
})

test('special ranges are reported by kind', () => {
  for (const [address, kind] of [
    ['169.254.169.254', 'cloud metadata'],
    ['169.254.169.253', 'link-local'],
    ['127.9.9.9', 'loopback'],
    ['192.168.0.1', 'private'],
    ['fd12::1', 'private'],
    ['64:ff9b::a00:1', 'reserved'],
    ['2002:a00:1::', 'reserved'],
    ['::', 'unspecified'],
    ['1.1.1.1', undefined],
    ['2606:4700:4700::1111', undefined],
  ] as const)
    assert.equal(specialRange(address)?.kind, kind, address)
})

test('a destination is read with one meaning or refused', () => {
  for (const text of [
    'api.example',
    'api.example:',
    'api.example:0',
    'api.example:070',
    'api.example:65536',
    'api.example:443:1',
    'user@api.example:443',
    'api.example.:443',
    'api..example:443',
    '-api.example:443',
    'api_example-:443',
    '127.1:80',
    '0x7f.0.0.1:80',
    '0177.0.0.1:80',
    '2130706433:80',
    '1.2.3.4.5:80',
    '::1:80',
    '[::1:80',
    '[127.0.0.1]:80',
    '[fe80::1%25eth0]:80',
    'bücher.example:443',
    'a b:443',
    '',
  ])
    assert.equal(readAuthority(text, null).ok, false, text)
  assert.deepEqual(readAuthority('[::FFFF:1.2.3.4]', 80), { ok: true, authority: { host: '1.2.3.4', port: 80 } })
  assert.deepEqual(readAuthority('Api_1.Example', 80), { ok: true, authority: { host: 'api_1.example', port: 80 } })
})

test('an entry that names nothing is reported at the start', () => {
  for (const entry of [
    '*',
    'a.*.example',
    '*.10.0.0.1',
    '10.0.0.0/33',
    '10.0.0/8',
    'http://a',
    'a:99999',
    '10.1/16',
    '[::1',
  ])
    assert.equal(readHostRule(entry).ok, false, entry)
})
