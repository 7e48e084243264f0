/** HTTP/2 requests that are malformed, ambiguous or too much, as frames; what each may lead to. */
import { block, data, FLAG, frame, FRAME, headers, remembered, type Fields } from './http2-frames.ts'

export interface HostileFrames {
  readonly name: string
  readonly frames: readonly Buffer[]
  /** Requests that may arrive upstream. */
  readonly forwarded: 0 | 1
}

type Change = (fields: Fields) => Fields

const METHOD = ':method'
const GOOD: Fields = [
  [METHOD, 'GET'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', '/pets'],
]
const POST: Fields = GOOD.map(([name, value]) => [name, name === METHOD ? 'POST' : value])

const plus =
  (...more: Fields): Change =>
  (fields) => [...fields, ...more]
const without =
  (name: string): Change =>
  (fields) =>
    fields.filter(([one]) => one !== name)
const as =
  (name: string, value: string): Change =>
  (fields) =>
    fields.map(([one, before]) => [one, one === name ? value : before])

/** One HEADERS frame that is all of the request. Fields whose name or value is none are dropped by the library, and judged and sent on as dropped. */
const HEADS: readonly (readonly [string, Change, (0 | 1)?])[] = [
  ['nothing wrong', (fields) => fields, 1],
  ['te: trailers', plus(['te', 'trailers']), 1],
  ['a method twice', plus([METHOD, 'GET'])],
  ['two methods', (fields) => [[METHOD, 'DELETE'], ...fields]],
  ['two paths', (fields) => [[':path', '/hidden'], ...fields]],
  ['two authorities', (fields) => [[':authority', 'b'], ...fields]],
  ['two schemes', (fields) => [[':scheme', 'https'], ...fields]],
  ['a path behind a field', (fields) => [...without(':path')(fields), ['x', 'y'], [':path', '/pets']]],
  ['an authority behind a field', (fields) => [...without(':authority')(fields), ['x', 'y'], [':authority', 'a']]],
  ['an unknown pseudo-header', (fields) => [[':hidden', 'y'], ...fields]],
  ['a status', (fields) => [[':status', '200'], ...fields]],
  ['a protocol', (fields) => [[':protocol', 'websocket'], ...fields]],
  ['no method', without(METHOD)],
  ['no path', without(':path')],
  ['no scheme', without(':scheme')],
  ['neither authority nor host', without(':authority')],
  ['an empty method', as(METHOD, '')],
  ['a method with a space', as(METHOD, 'GET /hidden')],
  ['a method in small letters', as(METHOD, 'get')],
  ['a method with a line break', as(METHOD, 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\nGET')],
  ['an empty path', as(':path', '')],
  ['a path without a slash', as(':path', 'pets')],
  ['a path with a fragment', as(':path', '/pets#x')],
  ['a path with a space', as(':path', '/pets /x')],
  ['a path with a line break', as(':path', '/pets HTTP/1.1\r\nHost: b\r\n\r\nGET /hidden')],
  ['a path with a NUL', as(':path', '/pets\x00')],
  ['a path with a tab', as(':path', '/pets\t')],
  ['a path with letters beyond ASCII', as(':path', '/p\xe9ts')],
  ['a path with a dot segment', as(':path', '/pets/../hidden')],
  ['a path with two slashes', as(':path', '//pets')],
  ['a path that is an asterisk', as(':path', '*')],
  ['a path in absolute form', as(':path', 'http://b/pets')],
  ['an empty scheme', as(':scheme', '')],
  ['a scheme that is none', as(':scheme', 'http://b/hidden?')],
  ['another scheme', as(':scheme', 'ftp')],
  ['an empty authority', as(':authority', '')],
  ['an authority with a path', as(':authority', 'a/b')],
  ['an authority with a user', as(':authority', 'u@a')],
  ['an authority with a space', as(':authority', 'a b')],
  ['an authority with a line break', as(':authority', 'a\r\nx: y')],
  ['another host than its authority', plus(['host', 'b'])],
  ['two hosts', plus(['host', 'a'], ['host', 'a'])],
  ['two hosts and no authority', (fields) => [...without(':authority')(fields), ['host', 'a'], ['host', 'b']]],
  ['an empty host', (fields) => [...without(':authority')(fields), ['host', '']]],
  ['a host in two spellings', plus(['host', 'A'])],
  ['a name in capitals', plus(['X-Up', 'y'])],
  ['a name with a space', plus(['x y', 'z']), 1],
  ['a name with a colon', plus(['x:y', 'z']), 1],
  ['a name with a line break', plus(['x\r\nhost', 'b']), 1],
  ['a name with a NUL', plus(['x\x00y', 'z']), 1],
  ['an empty name', plus(['', 'z']), 1],
  ['a value with a line break', plus(['x', 'y\r\nhost: b']), 1],
  ['a value with a bare line feed', plus(['x', 'y\nhost: b']), 1],
  ['a value with a bare carriage return', plus(['x', 'y\rhost: b']), 1],
  ['a value with a NUL', plus(['x', 'y\x00z']), 1],
  ['a value with a space before it', plus(['x', ' y']), 1],
  ['a value with a space behind it', plus(['x', 'y ']), 1],
  ['a field of the connection', plus(['connection', 'keep-alive'])],
  ['a field of the connection that hides another', plus(['connection', 'x-mine'], ['x-mine', 'y'])],
  ['keep-alive', plus(['keep-alive', 'timeout=5'])],
  ['proxy-connection', plus(['proxy-connection', 'keep-alive'])],
  ['a framing', plus(['transfer-encoding', 'chunked'])],
  ['a wish to switch', plus(['upgrade', 'websocket'])],
  ['te: gzip', plus(['te', 'gzip'])],
  ['te: trailers, gzip', plus(['te', 'trailers, gzip'])],
  ['a length without a body', plus(['content-length', '5'])],
  ['two lengths', plus(['content-length', '0'], ['content-length', '0'])],
  ['a length that is none', plus(['content-length', '+0'])],
  ['a list of lengths', plus(['content-length', '0, 0'])],
  [
    'CONNECT',
    () => [
      [METHOD, 'CONNECT'],
      [':authority', 'b:443'],
    ],
  ],
  ['CONNECT with a path', (fields) => as(METHOD, 'CONNECT')(fields)],
  ['extended CONNECT', (fields) => [...as(METHOD, 'CONNECT')(fields), [':protocol', 'websocket']]],
  ['TRACE', as(METHOD, 'TRACE')],
]

const OPEN = FLAG.endHeaders
const MANY = Array.from({ length: 20_000 })

/** Several frames. */
const FRAMES: readonly (readonly [string, readonly Buffer[], (0 | 1)?])[] = [
  ['a body without guile', [headers(POST, OPEN), data('hello', FLAG.endStream)], 1],
  ['a body of the length that was said', [headers([...POST, ['content-length', '5']], OPEN), data('hello', 1)], 1],
  ['a body that is longer than was said', [headers([...POST, ['content-length', '3']], OPEN), data('hello', 1)], 1],
  ['a body that is shorter than was said', [headers([...POST, ['content-length', '9']], OPEN), data('hello', 1)], 1],
  ['trailers with a pseudo-header', [headers(POST, OPEN), data('hello'), headers([[':path', '/hidden']])], 1],
  ['trailers in capitals', [headers(POST, OPEN), data('hello'), headers([['X-Up', 'y']])], 1],
  ['trailers that do not end', [headers(POST, OPEN), data('hello'), headers([['x', 'y']], OPEN)], 1],
  ['data behind the end', [headers(POST, OPEN), data('a', 1), data('b', 1)], 1],
  ['a head behind the end', [headers(GOOD), headers(GOOD)], 1],
  ['data before a head', [data('hello', 1)]],
  ['a head on no stream', [headers(GOOD, OPEN, 0)]],
  ['a head on a stream of the server', [headers(GOOD, OPEN, 2)]],
  ['a stream that was passed over', [headers(GOOD, OPEN | 1, 3), headers(GOOD, OPEN | 1, 1)], 1],
  ['a promise', [frame(FRAME.pushPromise, OPEN, 1, Buffer.concat([Buffer.from([0, 0, 0, 2]), block(GOOD)]))]],
  [
    'a stream that depends on itself',
    [frame(FRAME.headers, OPEN | 0x21, 1, Buffer.concat([Buffer.from([0, 0, 0, 1, 0]), block(GOOD)]))],
    1,
  ],
  ['padding beyond the frame', [frame(FRAME.headers, OPEN | 0x9, 1, Buffer.concat([Buffer.from([255]), block(GOOD)]))]],
  ['a frame that is too large', [frame(FRAME.headers, OPEN | 1, 1, Buffer.alloc(20_000))]],
  ['a continuation of nothing', [frame(FRAME.continuation, OPEN, 1, block(GOOD))]],
  ['a head that is interrupted', [headers(GOOD, 1), frame(FRAME.ping, 0, 0, Buffer.alloc(8))]],
  ['a head that goes on elsewhere', [headers(GOOD, 1), frame(FRAME.continuation, OPEN, 3, block([['x', 'y']]))]],
  ['a head in two frames', [headers(GOOD.slice(0, 2), 1), frame(FRAME.continuation, OPEN, 1, block(GOOD.slice(2)))], 1],
  [
    'a second path in a continuation',
    [headers(GOOD, 1), frame(FRAME.continuation, OPEN, 1, block([[':path', '/hidden']]))],
  ],
  [
    'a pseudo-header behind a field, in a continuation',
    [headers([...GOOD.slice(0, 3), ['x', 'y']], 1), frame(FRAME.continuation, OPEN, 1, block([[':path', '/hidden']]))],
  ],
  ['another host in a continuation', [headers(GOOD, 1), frame(FRAME.continuation, OPEN, 1, block([['host', 'b']]))]],
  [
    'a continuation behind the end of its head',
    [headers(GOOD), frame(FRAME.continuation, OPEN, 1, block([['x', 'y']]))],
    1,
  ],
  [
    'trailers with a pseudo-header in a continuation',
    [
      headers(POST, OPEN),
      data('hello'),
      headers([['x', 'y']], 1),
      frame(FRAME.continuation, OPEN, 1, block([[':path', '/hidden']])),
    ],
    1,
  ],
  ['a head in the middle of another one', [headers(GOOD, 1), headers(GOOD, OPEN | 1, 3)]],
  [
    'a head that never ends',
    [headers(GOOD, 1), ...MANY.map(() => frame(FRAME.continuation, 0, 1, block([['x', 'y']])))],
  ],
  ['a head that goes on with nothing', [headers(GOOD, 1), ...MANY.map(() => frame(FRAME.continuation, 0, 1))]],
  [
    'a head of 200 KiB',
    [
      headers(GOOD, 1),
      ...Array.from({ length: 20 }, (_, index) =>
        frame(FRAME.continuation, index === 19 ? OPEN : 0, 1, block([['x', 'y'.repeat(10_000)]])),
      ),
    ],
  ],
  [
    'a small head that unfolds to a megabyte',
    [
      frame(
        FRAME.headers,
        OPEN | 1,
        1,
        Buffer.concat([block(GOOD), remembered(['x', 'y'.repeat(3900)]), Buffer.alloc(300, 0xbe)]),
      ),
    ],
  ],
  ['a place in the table that does not exist', [frame(FRAME.headers, OPEN | 1, 1, Buffer.from([0xff, 0xff, 0x03]))]],
  [
    'a text that is not a Huffman code',
    [
      frame(
        FRAME.headers,
        OPEN | 1,
        1,
        Buffer.concat([block(GOOD), Buffer.from([0, 1, 0x78, 0x84, 255, 255, 255, 255])]),
      ),
    ],
  ],
  ['settings of no right length', [frame(FRAME.settings, 0, 0, Buffer.alloc(5))]],
  ['settings with a window beyond all', [frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 255, 255, 255, 255]))]],
  ['a window that grows by nothing', [headers(POST, OPEN), frame(FRAME.windowUpdate, 0, 0, Buffer.alloc(4))], 1],
  ['a window that grows beyond all', [frame(FRAME.windowUpdate, 0, 0, Buffer.from([127, 255, 255, 255]))]],
  ['a flood of settings', MANY.map(() => frame(FRAME.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100])))],
  ['a flood of pings', MANY.map(() => frame(FRAME.ping, 0, 0, Buffer.alloc(8)))],
  ['a flood of empty data', [headers(POST, OPEN), ...MANY.map(() => data(''))], 1],
  ['a flood of priorities', MANY.map(() => frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 0, 15])))],
  ['an unknown frame', [frame(99, 0, 0, Buffer.from('hello')), headers(GOOD)], 1],
]

export const HOSTILE_FRAMES: readonly HostileFrames[] = [
  ...HEADS.map(([name, change, forwarded = 0]) => ({ name, frames: [headers(change(GOOD))], forwarded })),
  ...FRAMES.map(([name, frames, forwarded = 0]) => ({ name, frames, forwarded })),
]

/** Streams that are opened and immediately reset, `count` of them from the first on. */
export function rapidResets(count: number): readonly Buffer[] {
  return Array.from({ length: count }, (_, index) => {
    const stream = 2 * index + 1
    return Buffer.concat([
      headers(GOOD, FLAG.endHeaders | 1, stream),
      frame(FRAME.rstStream, 0, stream, Buffer.from([0, 0, 0, 8])),
    ])
  })
}
