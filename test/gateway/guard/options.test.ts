/** What a program in JavaScript can hand to the guard and to the client: a mistake ends with its name before a tool is wrapped. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { suite, test } from 'node:test'
import { guardMcpClient, guardTools, preflightClient, type GuardOptions } from '../../../gateway/index.ts'
import { listening } from '../../fakes/listening.ts'

const CLIENT = preflightClient({ url: 'http://127.0.0.1:15081', key: 'k' })
const GOOD: Readonly<Record<string, unknown>> = {
  ...CLIENT,
  operation: 'merge',
  reads: ['read_file'],
  readFile: () => Promise.resolve(null),
  root: '/work',
  typeOf: () => null,
}

/** Calls a function as JavaScript does: without types. */
function untyped(call: (...args: never[]) => unknown, ...args: readonly unknown[]): unknown {
  return Reflect.apply(call, undefined, args)
}

suite('the options of a guard', () => {
  const without = (name: string): Readonly<Record<string, unknown>> => {
    const { [name]: _left, ...rest } = GOOD
    return rest
  }
  const MISTAKES: readonly [what: string, options: unknown, says: RegExp][] = [
    ['no options', undefined, /needs options: operation, preflight/],
    ['a list', [], /needs options/],
    ...['operation', 'preflight', 'verify', 'sha256', 'now'].map((name): [string, unknown, RegExp] => [
      `no ${name}`,
      without(name),
      new RegExp(`needs (?:an operation|the function ${name})`),
    ]),
    // 'read_or_write_file'.includes('write_file'): the call would run unjudged.
    ['one name as reads', { ...GOOD, reads: 'read_or_write_file' }, /reads of a guard must be a list/],
    ['other things as reads', { ...GOOD, reads: [/read/] }, /reads of a guard must be a list/],
    ...['report', 'readFile', 'typeOf'].map((name): [string, unknown, RegExp] => [
      `${name} as text`,
      { ...GOOD, [name]: 'none' },
      new RegExp(`${name} of a guard must be`),
    ]),
    ['a mistyped option', { ...GOOD, typeof: () => 'none' }, /has no option typeof: did you mean typeOf\?/],
    ['another mistyped option', { ...GOOD, read: ['read_file'] }, /has no option read: did you mean reads\?/],
    [
      'an option of another program',
      { ...GOOD, verbose: true },
      /has no option verbose; it has operation, context, reads,/,
    ],
    ['an address as root', { ...GOOD, root: new URL('file:///work') }, /root of a guard must be the path/],
  ]
  for (const [what, options, says] of MISTAKES)
    test(`${what}: refused when tools and clients are wrapped`, () => {
      assert.throws(() => untyped(guardTools, { read_file: () => '' }, options), { name: 'TypeError', message: says })
      assert.throws(() => untyped(guardMcpClient, { callTool: () => '' }, options), {
        name: 'TypeError',
        message: says,
      })
    })

  for (const client of [undefined, null, 'client', {}, { callTool: 'x' }])
    test(`${JSON.stringify(client)} is no client to guard`, () => {
      assert.throws(() => untyped(guardMcpClient, client, GOOD), { name: 'TypeError', message: /has no callTool/ })
    })

  test('without its optional members a guard is made', () => {
    const { report: _report, ...client } = CLIENT
    const options: GuardOptions = { ...client, operation: 'merge' }
    assert.equal(typeof guardTools({ read_file: () => '' }, options).read_file, 'function')
  })
})

suite('the client of the API', () => {
  for (const url of [undefined, '', 'localhost:15081', '127.0.0.1:15081', 'file:///tmp', '/api'])
    test(`is not made for the address ${String(url)}`, () => {
      assert.throws(() => untyped(preflightClient, { url, key: 'k' }), {
        name: 'TypeError',
        message: /needs url: the http or https/,
      })
    })

  test('repeats a refusal of the API in one line, and what another server answers as it stands', async (t) => {
    const details = [{ pointer: '/artifacts', message: 'is required' }]
    const answers: readonly (readonly [body: string, expected: string])[] = [
      [
        JSON.stringify({ error: 'INVALID_INPUT', message: 'The request is not valid.', correlation_id: 'c', details }),
        'POST /api/v1/preflight answered 401: INVALID_INPUT: The request is not valid. /artifacts is required',
      ],
      ['<html>sign in</html>', 'POST /api/v1/preflight answered 401: <html>sign in</html>'],
      ['{"error":7}', 'POST /api/v1/preflight answered 401: {"error":7}'],
    ]
    for (const [body, message] of answers) {
      const server = createServer((_, response) => response.writeHead(401).end(body))
      const { preflight } = preflightClient({ url: await listening(t, server), key: 'k' })
      await assert.rejects(preflight({}), { message })
    }
  })

  test('is not made without a key', () => {
    assert.throws(() => untyped(preflightClient, { url: 'http://127.0.0.1' }), {
      name: 'TypeError',
      message: /needs key/,
    })
  })
})
