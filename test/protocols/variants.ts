/** The forms in which a judged request may try to pass: another method, coding, protocol, dropped field or path. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { SampleRequest } from './profiles.ts'
import type { SentRequest } from './protocol-scene.ts'

/** A request with its name, for the report of those that got through. */
export type Named = readonly [name: string, request: SentRequest]

const OVERRIDE_FIELDS = [
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'x-http-method-OVERRIDE',
  'X-HTTP-Verb-Override',
  'X-HTTP-Verb',
  'X-Override-Method',
  'X-Tunneled-Method',
  'X-Method',
  'HTTP-Method-Override',
  'Method-Override',
] as const

/** Names of a parameter that some server takes for `_method`, as they are written in a query. */
const OVERRIDE_PARAMETERS = [
  '_method',
  '_METHOD',
  '_Method',
  '%5fmethod',
  '_metho%64',
  '%5F%6D%65%74%68%6F%64',
  '_method[]',
  '_method%5B%5D',
  '_method[0]',
  'x=1&_method',
  'x=1;_method',
  'x=1;%5Fmethod',
  '+_method',
  '%20_method',
  '.method',
  '_method%00',
  '%ef%bc%bfmethod',
  '$httpMethod',
  '_httpMethod',
  '_HttpMethod',
  'X-HTTP-Method-Override',
  'x-http-method-override',
] as const

/** The judged request under another method, and another method that stands for the judged one. */
export function* overrides(sample: SentRequest): Generator<Named> {
  for (const field of OVERRIDE_FIELDS) {
    yield [`${field}: GET`, { ...sample, headers: [`${field}: GET`] }]
    for (const method of ['POST', 'GET', 'OPTIONS', 'HEAD']) {
      if (method === sample.method) continue
      yield [`${method} with ${field}`, { ...sample, method, headers: [`${field}: ${sample.method}`] }]
    }
  }
  if (sample.method === 'POST') return
  for (const name of OVERRIDE_PARAMETERS) {
    const path = `${sample.path}${sample.path.includes('?') ? '&' : '?'}${name}=${sample.method}`
    yield [`${name} in the query`, { ...sample, method: 'POST', path, headers: [] }]
  }
  yield* overridingForms(sample)
}

function* overridingForms(sample: SentRequest): Generator<Named> {
  const posted = { ...sample, method: 'POST', headers: [] }
  const form = `_method=${sample.method}`
  const part = `--x\r\nContent-Disposition: form-data; name="_method"\r\n\r\n${sample.method}\r\n--x--\r\n`
  for (const [type, body] of [
    ['application/x-www-form-urlencoded', form],
    ['Application/X-WWW-Form-Urlencoded; charset=utf-8', form],
    ['multipart/form-data; boundary=x', part],
    ['multipart/related; boundary=x', part],
  ] as const)
    yield [`_method in ${type}`, { ...posted, body, type }]
  yield ['_method in a body without a type', { ...posted, body: form, headers: ['Content-Type: '] }]
}

const CODINGS: readonly (readonly [name: string, code: (body: Buffer) => Buffer])[] = [
  ['gzip', (body) => gzipSync(body)],
  ['x-gzip', (body) => gzipSync(body)],
  ['GZIP', (body) => gzipSync(body)],
  ['deflate', (body) => deflateSync(body)],
  ['deflate', (body) => deflateRawSync(body)],
  ['br', (body) => brotliCompressSync(body)],
  ['zstd', (body) => zstdCompressSync(body)],
  ['gzip, gzip', (body) => gzipSync(gzipSync(body))],
  ['identity, gzip', (body) => gzipSync(body)],
  ['aws-chunked', (body) => body],
  ['unknown', (body) => body],
  ['gzip', (body) => body],
]

export function* encodings(sample: SampleRequest): Generator<Named> {
  const body = Buffer.from(sample.body)
  for (const [name, code] of CODINGS)
    yield [`Content-Encoding: ${name}`, { ...sample, bytes: code(body), headers: [`Content-Encoding: ${name}`] }]
  const chunked = `${body.length.toString(16)}\r\n${sample.body}\r\n0\r\n\r\n`
  yield ['chunked', { ...sample, bytes: Buffer.from(chunked), headers: ['Transfer-Encoding: chunked'] }]
}

export function* upgrades(sample: SampleRequest): Generator<Named> {
  for (const wanted of ['websocket', 'SPDY/3.1', 'h2c', 'TLS/1.0', 'unknown'])
    yield [`Upgrade: ${wanted}`, { ...sample, headers: ['Connection: Upgrade, close', `Upgrade: ${wanted}`] }]
}

/** Fields that a hop drops (RFC 9110 §7.6.1) may not be what the judgement is based on. */
export function* droppedFields(sample: SampleRequest): Generator<Named> {
  for (const field of ['Content-Type', 'Content-Encoding', 'Host', 'Authorization', 'Accept'])
    yield [`Connection: ${field}`, { ...sample, headers: [`Connection: close, ${field}`] }]
}

/** Paths that some servers take for the judged one. The query stays. */
export function* pathForms(sample: SentRequest): Generator<Named> {
  const [path = '', query] = sample.path.split('?', 2)
  const slash = path.lastIndexOf('/')
  const [folder, last] = [path.slice(0, slash), path.slice(slash + 1)]
  const encoded = `%${last.charCodeAt(0).toString(16).padStart(2, '0')}${last.slice(1)}`
  const forms: Readonly<Record<string, string>> = {
    'a slash behind it': `${path}/`,
    'two slashes': `${folder}//${last}`,
    'a slash before it': `/${path}`,
    'a dot segment': `${folder}/./${last}`,
    'a way down and up': `${folder}/x/../${last}`,
    'an encoded way up': `${folder}/x/%2e%2e/${last}`,
    'an encoded slash': `${folder}%2f${last}`,
    'a backslash': `${folder}\\${last}`,
    'an encoded letter': `${folder}/${encoded}`,
    'an encoded percent sign': `${folder}/${encoded.replace('%', '%25')}`,
    'large letters': `${folder}/${last.toUpperCase()}`,
    'a parameter': `${path};x=1`,
    'an empty parameter': `${path};`,
    'a suffix': `${path}.json`,
    'a dot behind it': `${path}.`,
    'an encoded space': `${path}%20`,
    'an encoded NUL': `${path}%00`,
    'an encoded question mark': `${path}%3fx`,
    'an absolute form': `http://a${path}`,
  }
  for (const [name, form] of Object.entries(forms))
    if (form !== path) yield [name, { ...sample, path: query === undefined ? form : `${form}?${query}` }]
}
