/**
 * Requests that two parsers may read differently: lengths, framings, lines, hosts and targets with more than one reading. Those
 * for request smuggling contain a second, hidden request.
 */
export interface HostileRequest {
  readonly name: string
  /** As sent, in Latin-1. */
  readonly bytes: string
  /** Requests that the gateway, asked directly, may send on: those that any reader sees. */
  readonly forwarded: 0 | 1 | 2
}

/** The path that nobody asks for openly. */
export const HIDDEN_PATH = '/hidden'
const HIDDEN = `GET ${HIDDEN_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`
const CHUNKED_END = '0\r\n\r\n'

/** Lines of the head after the request line, and what follows the empty line. */
function post(fields: string, body = ''): string {
  return `POST /pets HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${body}`
}

function get(line: string, fields = 'Host: a'): string {
  return `${line}\r\n${fields}\r\n\r\n`
}

const TE_SPELLINGS: readonly (readonly [string, string, 0 | 1 | 2])[] = [
  ['a space before the colon', 'Transfer-Encoding : chunked', 0],
  ['a tab before the colon', 'Transfer-Encoding\t: chunked', 0],
  ['a leading space', ' Transfer-Encoding: chunked', 0],
  ['a folded value', 'Transfer-Encoding:\r\n chunked', 0],
  ['a vertical tab', 'Transfer-Encoding: \x0bchunked', 0],
  ['a form feed', 'Transfer-Encoding: \x0cchunked', 0],
  ['a NUL', 'Transfer-Encoding: chunked\x00', 0],
  ['quotes', 'Transfer-Encoding: "chunked"', 0],
  ['an x', 'Transfer-Encoding: xchunked', 0],
  ['identity first', 'Transfer-Encoding: identity, chunked', 0],
  ['identity last', 'Transfer-Encoding: chunked, identity', 0],
  ['itself twice', 'Transfer-Encoding: chunked, chunked', 0],
  ['two fields', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', 0],
  ['two fields in two cases', 'Transfer-Encoding: chunked\r\ntransfer-encoding: x', 0],
  ['an empty field beside it', 'Transfer-Encoding:\r\nTransfer-Encoding: chunked', 0],
  ['a parameter', 'Transfer-Encoding: chunked;q=1', 0],
  ['a comma before it', 'Transfer-Encoding: , chunked', 0],
  ['a comma behind it', 'Transfer-Encoding: chunked,', 0],
  ['a bare LF within', 'Transfer-Encoding: chu\nnked', 0],
  ['a bare CR within', 'X: y\rTransfer-Encoding: chunked', 0],
  ['a bare LF before it', 'X: y\nTransfer-Encoding: chunked', 0],
  ['an underscore', 'Transfer_Encoding: chunked', 0],
  ['a letter that folds to its own', 'Tran\u017ffer-Encoding: chunked'.replace('\u017f', '\xdf'), 0],
]

const LENGTHS: readonly (readonly [string, string, 0 | 1 | 2])[] = [
  ['twice, alike', 'Content-Length: 5\r\nContent-Length: 5', 0],
  ['twice, unlike', 'Content-Length: 5\r\nContent-Length: 0', 0],
  ['as a list', 'Content-Length: 5, 5', 0],
  ['as a list of two', 'Content-Length: 5, 0', 0],
  ['with a plus', 'Content-Length: +5', 0],
  ['negative', 'Content-Length: -5', 0],
  ['in hexadecimal', 'Content-Length: 0x5', 0],
  ['as a fraction', 'Content-Length: 5.0', 0],
  ['with an exponent', 'Content-Length: 5e0', 0],
  ['with a space within', 'Content-Length: 5 5', 0],
  ['with an underscore', 'Content-Length: 5_0', 0],
  ['with letters behind', 'Content-Length: 5abc', 0],
  ['empty', 'Content-Length:', 0],
  ['beyond 64 bits', 'Content-Length: 18446744073709551621', 0],
  ['with a space before the colon', 'Content-Length : 5', 0],
  ['folded', 'Content-Length:\r\n 5', 0],
  ['with a NUL', 'Content-Length: 5\x00', 0],
]

const CHUNKS: readonly (readonly [string, string, 0 | 1 | 2])[] = [
  ['a size beyond 64 bits', `10000000000000005\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['a size with 0x', `0x5\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['a negative size', `-5\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['a size with a plus', `+5\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['a size with a space before it', ` 5\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['a size with an underscore', `5_0\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['no size', `\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['lines that end in LF', `5\nhello\n0\n\n${HIDDEN}`, 1],
  ['a size line that ends in CR', `5\rhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['data that is longer than said', `5\r\nhello!!\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['data that is shorter than said', `9\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['an extension with a bare LF', `5;a\nb\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['an extension with a bare CR', `5;a\rb\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['an extension with a NUL', `5;a\x00b\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 1],
  ['an end with junk', `5\r\nhello\r\n0\r\nX\r\n${HIDDEN}`, 1],
  ['a trailer with a length', `5\r\nhello\r\n0\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`, 2],
  ['a trailer with a framing', `5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n${HIDDEN}`, 2],
  ['a size of many zeros', `${'0'.repeat(40)}5\r\nhello\r\n${CHUNKED_END}${HIDDEN}`, 2],
]

const LINES: readonly (readonly [string, string, 0 | 1 | 2])[] = [
  ['a name with a space', get('GET /pets HTTP/1.1', 'Host: a\r\nX Y: z'), 0],
  ['a name with a NUL', get('GET /pets HTTP/1.1', 'Host: a\r\nX\x00Y: z'), 0],
  ['a value with a NUL', get('GET /pets HTTP/1.1', 'Host: a\r\nX: y\x00z'), 0],
  ['an empty name', get('GET /pets HTTP/1.1', 'Host: a\r\n: z'), 0],
  ['a line without a colon', get('GET /pets HTTP/1.1', 'Host: a\r\nContent-Length'), 0],
  ['a folded field', get('GET /pets HTTP/1.1', 'Host: a\r\nX: y\r\n z'), 0],
  ['a folded first field', `GET /pets HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n`, 0],
  ['bare LF throughout', `GET /pets HTTP/1.1\nHost: a\n\n${HIDDEN}`, 0],
  ['a bare CR that hides a request', get('GET /pets HTTP/1.1', `Host: a\r\nX: y\rGET ${HIDDEN_PATH} HTTP/1.1`), 0],
  ['a bare LF that hides a request', get('GET /pets HTTP/1.1', `Host: a\r\nX: y\n\nGET ${HIDDEN_PATH} HTTP/1.1`), 0],
  ['a control character in a name', get('GET /pets HTTP/1.1', 'Host: a\r\n\x01X: y'), 0],
  ['a head without end', get('GET /pets HTTP/1.1', `Host: a\r\nX: ${'y'.repeat(70_000)}`), 0],
  ['very many fields', get('GET /pets HTTP/1.1', `Host: a\r\n${'X: y\r\n'.repeat(5000)}Z: z`), 0],
  ['a length among the fields of the hop', post('Connection: Content-Length\r\nContent-Length: 5', 'hello'), 0],
  ['a host among the fields of the hop', get('GET /pets HTTP/1.1', 'Host: a\r\nConnection: Host'), 0],
  [
    'a media type among the fields of the hop',
    post('Connection: close, content-type\r\nContent-Type: text/plain\r\nContent-Length: 5', 'hello'),
    0,
  ],
  [
    'an unknown name among the fields of the hop',
    get('GET /pets HTTP/1.1', 'Host: a\r\nConnection: X-Mine\r\nX-Mine: y'),
    1,
  ],
  [
    'a framing among the fields of the hop',
    post('Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked', `5\r\nhello\r\n${CHUNKED_END}`),
    0,
  ],
  ['a body behind a GET', `${get('GET /pets HTTP/1.1', `Host: a\r\nContent-Length: ${HIDDEN.length}`)}${HIDDEN}`, 1],
  ['a body that nobody announced', `${get('GET /pets HTTP/1.1')}${HIDDEN}`, 2],
  [
    'an expectation beside a hidden request',
    post(`Expect: 100-continue\r\nContent-Length: ${HIDDEN.length}`, HIDDEN),
    1,
  ],
  ['a wish for h2c', get('GET /pets HTTP/1.1', 'Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c'), 1],
  [
    'a switch with a hidden request',
    `${get('GET /pets HTTP/1.1', 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket')}${HIDDEN}`,
    0,
  ],
  [
    'a switch with a body',
    `${get('GET /pets HTTP/1.1', `Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${HIDDEN.length}`)}${HIDDEN}`,
    1,
  ],
]

const TARGETS: readonly (readonly [string, string, 0 | 1 | 2])[] = [
  ['HTTP/0.9', 'GET /pets\r\n\r\n', 0],
  ['HTTP/1.2', get('GET /pets HTTP/1.2'), 0],
  ['HTTP/2.0 in letters', get('GET /pets HTTP/2.0'), 0],
  ['HTTP/1.10', get('GET /pets HTTP/1.10'), 0],
  ['http in small letters', get('GET /pets http/1.1'), 0],
  [
    'HTTP/1.0 with chunks and nothing behind them',
    `POST /pets HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED_END}`,
    0,
  ],
  [
    'HTTP/1.0 with chunks',
    `POST /pets HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED_END}${HIDDEN}`,
    0,
  ],
  ['two spaces in the line', get('GET  /pets HTTP/1.1'), 1],
  ['a tab in the line', get('GET\t/pets HTTP/1.1'), 0],
  ['a space in the target', get('GET /pets /x HTTP/1.1'), 0],
  ['a NUL in the target', get('GET /pets\x00 HTTP/1.1'), 0],
  ['a bare CR in the target', get('GET /pets\r/x HTTP/1.1'), 0],
  ['letters beyond ASCII in the target', get('GET /p\xe9ts HTTP/1.1'), 0],
  ['a fragment', get('GET /pets#x HTTP/1.1'), 0],
  ['a dot segment', get(`GET /pets/..${HIDDEN_PATH} HTTP/1.1`), 0],
  ['an encoded dot segment', get(`GET /pets/%2e%2e${HIDDEN_PATH} HTTP/1.1`), 0],
  ['an encoded slash', get('GET /pets%2fmine HTTP/1.1'), 0],
  ['a backslash', get('GET /pets\\mine HTTP/1.1'), 0],
  ['two slashes', get('GET //pets HTTP/1.1'), 0],
  ['another host in absolute form', get('GET http://b/pets HTTP/1.1'), 0],
  ['a user in absolute form', get('GET http://u@a/pets HTTP/1.1'), 0],
  ['another scheme', get('GET ftp://a/pets HTTP/1.1'), 0],
  ['no path at all', get('GET pets HTTP/1.1'), 0],
  ['an asterisk', get('GET * HTTP/1.1'), 0],
  ['CONNECT', get('CONNECT a:80 HTTP/1.1'), 0],
  ['TRACE', get('TRACE /pets HTTP/1.1'), 0],
  ['a method that is none', get('G@T /pets HTTP/1.1'), 0],
  ['a very long target', get(`GET /pets?${'x'.repeat(70_000)} HTTP/1.1`), 0],
]

const HOSTS: readonly (readonly [string, string, 0 | 1 | 2])[] = [
  ['none', 'X: y', 0],
  ['two', 'Host: a\r\nHost: b', 0],
  ['two alike', 'Host: a\r\nHost: a', 0],
  ['two in two cases', 'Host: a\r\nhOST: b', 0],
  ['empty', 'Host:', 0],
  ['with a path', 'Host: a/b', 0],
  ['with a user', 'Host: u@a', 0],
  ['with a space', 'Host: a b', 0],
  ['a list', 'Host: a, b', 0],
  ['with a port that is none', 'Host: a:80x', 0],
  ['folded', 'Host:\r\n a', 0],
  ['with a space before the colon', 'Host : a', 0],
]

export const HOSTILE_REQUESTS: readonly HostileRequest[] = [
  { name: 'a request without guile', bytes: get('GET /pets HTTP/1.1'), forwarded: 1 },
  {
    name: 'a body in chunks without guile',
    bytes: post('Transfer-Encoding: chunked', `5\r\nhello\r\n${CHUNKED_END}`),
    forwarded: 1,
  },
  {
    name: 'a chunk with an extension',
    bytes: post('Transfer-Encoding: chunked', `5;a=b\r\nhello\r\n${CHUNKED_END}`),
    forwarded: 1,
  },
  ...both('CL.TE', `6`, `${CHUNKED_END}${HIDDEN}`),
  ...both('TE.CL', `4`, `2c\r\n${HIDDEN}\r\n${CHUNKED_END}`),
  ...both('CL.0', `0`, `5\r\nhello\r\n${CHUNKED_END}${HIDDEN}`),
  ...TE_SPELLINGS.flatMap(([name, field, forwarded]) => [
    row(
      `a framing with ${name}`,
      post(`Content-Length: ${CHUNKED_END.length + HIDDEN.length}\r\n${field}`, CHUNKED_END + HIDDEN),
      forwarded,
    ),
  ]),
  ...LENGTHS.map(([name, field]) => row(`a length ${name}`, post(field, `hello${HIDDEN}`), 0)),
  ...CHUNKS.map(([name, body, forwarded]) =>
    row(`chunks: ${name}`, post('Transfer-Encoding: chunked', body), forwarded),
  ),
  ...LINES.map(([name, bytes, forwarded]) => row(`fields: ${name}`, bytes, forwarded)),
  ...TARGETS.map(([name, bytes, forwarded]) => row(`request line: ${name}`, bytes, forwarded)),
  ...HOSTS.map(([name, fields]) => row(`host: ${name}`, get('GET /pets HTTP/1.1', fields), 0)),
]

function row(name: string, bytes: string, forwarded: 0 | 1 | 2): HostileRequest {
  return { name, bytes, forwarded }
}

/** A length and chunks, in either order. */
function both(name: string, length: string, body: string): readonly HostileRequest[] {
  const [first, second] = [`Content-Length: ${length}`, 'Transfer-Encoding: chunked']
  return [
    row(`${name}, the length first`, post(`${first}\r\n${second}`, body), 0),
    row(`${name}, the chunks first`, post(`${second}\r\n${first}`, body), 0),
  ]
}
