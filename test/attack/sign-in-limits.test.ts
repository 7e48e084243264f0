/** Strangers who try sign-ins and sign-ups without end: they are held back, and keep nobody else out. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { createMinuteRate, strangersLimits, type Stranger } from '../../gateway/api/quota.ts'
import { GatewayError } from '../../gateway/errors/errors.ts'
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { visitorWith } from '../fakes/console-visitor.ts'

const LIMITS = { address: 3, everybody: 10 }

function tries(limits = LIMITS): (stranger: Stranger, now?: number) => boolean {
  const rate = createMinuteRate()
  return (stranger, now = 0) => {
    try {
      rate.takeEach(strangersLimits('try', limits, stranger), now)
      return true
    } catch (error) {
      assert.ok(error instanceof GatewayError && error.code === 'RATE_LIMITED')
      return false
    }
  }
}

test('one address uses up its own limit only, however often it tries', () => {
  const isTaken = tries()
  const taken = Array.from({ length: 1000 }, () => isTaken({ address: '192.0.2.1' }))
  assert.equal(taken.filter(Boolean).length, 3)
  assert.equal(isTaken({ address: '192.0.2.2' }), true)
  assert.equal(isTaken({ address: '192.0.2.1' }, 60_000), true)
})

for (const [what, addresses] of [
  [
    'an IPv6 network',
    ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:5::', '2001:DB8:0:0:ffff:1:2:3', '2001:db8::1:0:0:1'],
  ],
  ['a short IPv6 network', ['2001:db8:1:2::', '2001:db8:1:2:3::', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::9']],
  ['an address in two forms', ['::ffff:192.0.2.1', '192.0.2.1', '::FFFF:c000:201', '192.0.2.1']],
  ['connections whose address is not known', [undefined, undefined, undefined, undefined]],
] as const)
  test(`${what} is one address`, () => {
    const isTaken = tries()
    assert.deepEqual(
      addresses.slice(0, 4).map((address) => isTaken({ address })),
      [true, true, true, false],
    )
  })

test('other networks are others', () => {
  const isTaken = tries({ address: 1, everybody: 10 })
  for (const address of ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::', '::1', '192.0.2.1', '192.0.2.2'])
    assert.equal(isTaken({ address }), true, address)
})

test('an account has a limit of its own, from whatever addresses', () => {
  const isTaken = tries({ address: 100, everybody: 100 })
  const account = { name: 'a', limit: 2 }
  const taken = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => isTaken({ address, account }))
  assert.deepEqual(taken, [true, true, false])
  assert.equal(isTaken({ address: '192.0.2.3', account: { name: 'b', limit: 2 } }), true)
})

test('what is refused is counted nowhere, so names are bounded by what everybody may do', () => {
  const isTaken = tries({ address: 1, everybody: 10 })
  const addresses = Array.from({ length: 1000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
  assert.equal(addresses.filter((address) => isTaken({ address })).length, 10)
})

/** @param from a loopback address of this machine */
function post(url: string, from: string, path: string, body: URLSearchParams | object): Promise<number> {
  const isForm = body instanceof URLSearchParams
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return new Promise((resolve, reject) => {
    const headers = { origin: url, 'content-type': type }
    request(`${url}${path}`, { method: 'POST', localAddress: from, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .on('error', reject)
      .end(isForm ? body.toString() : JSON.stringify(body))
  })
}

test('who has a key signs in to the console, whatever strangers try from whatever address', async (t) => {
  const { addresses } = await startTestGateway(t, {})
  const guess = (from: string) =>
    post(addresses.api, from, '/console/sign-in', new URLSearchParams({ key: 'pf_live_x' }))
  const statuses = new Set<number>()
  for (let count = 0; count < 70; count += 1) statuses.add(await guess('127.0.0.1'))
  assert.deepEqual([...statuses], [401, 429])
  assert.equal(await guess('127.0.0.2'), 401, 'another stranger')
  await visitorWith(addresses.api, TEST_KEY)
})

test('a stranger who signs up without end keeps nobody else from it', async (t) => {
  const { addresses } = await startTestGateway(t, { signup: { enabled: true } })
  let made = 0
  const signUp = (from: string) => post(addresses.api, from, '/api/signup', { email: `a${(made += 1)}@example.org` })
  for (let count = 0; count < 35; count += 1) await signUp('127.0.0.1')
  assert.equal(await signUp('127.0.0.1'), 429)
  assert.equal(await signUp('127.0.0.2'), 201)
})
