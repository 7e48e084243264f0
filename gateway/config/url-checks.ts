/** Addresses in the settings: what of them would silently be left out, or read as another one. */
import { isIP } from 'node:net'
import { appendPointer } from '../../engine/base.ts'
import { isLoopback } from '../network/listen-address.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { isHubUrl } from '../store/settings.ts'

interface UrlSetting {
  /** `*` stands for a list item. */
  readonly path: string
  /** What to do with credentials, since they are not sent; null: they are. */
  readonly credentials: string | null
  /** False: a query would be lost, as where paths are appended. */
  readonly query?: false
  /** A list of hubs, separated by commas; a text that names another kind of store is none. */
  readonly hubs?: true
}

const PLAIN = 'leave them out: it is read without credentials'
const IN_HEADER = 'write them to a header of this sink'
const IN_TOKEN = 'leave them out, and name a token_file'
const TO_HUB = { credentials: 'leave them out: the sidecar sends its token', query: false, hubs: true } as const

/** Each address of the schema that is asked for something. */
export const URL_SETTINGS: readonly UrlSetting[] = [
  { path: '/public_url', credentials: 'leave them out: each caller sends its own', query: false },
  { path: '/monitoring/sinks/*/url', credentials: IN_HEADER },
  { path: '/monitoring/sinks/*/endpoint', credentials: IN_HEADER },
  { path: '/decision_log/sinks/*/url', credentials: IN_HEADER },
  { path: '/decision_log/sinks/*/endpoint', credentials: IN_HEADER },
  { path: '/otel/endpoint', credentials: 'write them to otel.headers', query: false },
  {
    path: '/notifications/channels/*/url',
    credentials: 'leave them out: the receiver checks the signature or the path',
  },
  { path: '/notifications/channels/*/api', credentials: 'leave them out: the token of the app is sent', query: false },
  { path: '/notifications/channels/*/smtp', credentials: null, query: false },
  { path: '/signer/url', credentials: 'write them to signer.header' },
  { path: '/console/providers/*/issuer', credentials: 'leave them out: client_secret is sent', query: false },
  { path: '/scm/github/api', credentials: IN_TOKEN, query: false },
  { path: '/scm/gitlab/api', credentials: IN_TOKEN, query: false },
  { path: '/scm/bitbucket/api', credentials: IN_TOKEN, query: false },
  { path: '/routes/*/upstream', credentials: 'leave them out: each caller sends its own' },
  { path: '/routes/*/contract/baseline/url', credentials: PLAIN },
  { path: '/routes/*/contract/current/url', credentials: PLAIN },
  { path: '/routes/*/contract/origins/*', credentials: PLAIN, query: false },
  { path: '/routes/*/map/*/artifact/before/url', credentials: PLAIN },
  { path: '/routes/*/map/*/artifact/after/url', credentials: PLAIN },
  { path: '/store/url', ...TO_HUB },
  { path: '/injector/hub/url', ...TO_HUB },
]

export function checkUrls(config: object): readonly LocatedMistake[] {
  return URL_SETTINGS.flatMap((setting) =>
    textsAt(config, setting.path).flatMap(([pointer, text]) => mistakesIn(pointer, text, setting)),
  )
}

function mistakesIn(pointer: string, text: string, setting: UrlSetting): readonly LocatedMistake[] {
  if (setting.hubs !== true) return text.startsWith('unix:') ? [] : urlMistakes(pointer, text, setting)
  return isHubUrl(text) ? text.split(',').flatMap((url) => hubMistakes(pointer, url.trim(), setting)) : []
}

const HUB_FIX = 'write https://HOST[:PORT]'

/** Credentials go to the hub: without TLS only on this machine. */
function hubMistakes(pointer: string, text: string, setting: UrlSetting): readonly LocatedMistake[] {
  const unusable = urlMistakes(pointer, text, setting)
  if (unusable.length > 0) return unusable
  const { pathname, protocol, hostname } = new URL(text)
  if (pathname !== '/') return [mistakeAt(pointer, `${text} has a path`, HUB_FIX)]
  if (protocol === 'https:' || isLoopback(hostname)) return []
  return [mistakeAt(pointer, `${text} would get the token of this sidecar in plaintext`, HUB_FIX)]
}

/** The texts at the places that a path with `*` stands for, each with its JSON Pointer. */
export function textsAt(config: object, path: string): readonly LocatedText[] {
  return textsBelow(config, path.split('/').slice(1), '')
}

export type LocatedText = readonly [pointer: string, text: string]

function textsBelow(value: unknown, [name, ...rest]: readonly string[], pointer: string): readonly LocatedText[] {
  if (name === undefined) return typeof value === 'string' ? [[pointer, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([member, below]) =>
    name === '*' || name === member ? textsBelow(below, rest, appendPointer(pointer, member)) : [],
  )
}

function urlMistakes(pointer: string, text: string, setting: UrlSetting): readonly LocatedMistake[] {
  const found = urlProblem(text, setting)
  return found === null ? [] : [mistakeAt(pointer, ...found)]
}

function urlProblem(text: string, setting: UrlSetting): readonly [problem: string, fix: string] | null {
  // Node.js normalizes the hosts of http, not those of smtp.
  const url = URL.parse(text.replace(/^smtps?:/, 'http:'))
  if (url === null)
    return [
      'it is not a URL',
      setting.hubs === true ? HUB_FIX : `write ${text.slice(0, text.indexOf(':'))}://HOST[:PORT][/PATH]`,
    ]
  const { username, password, search, hash, port, hostname } = url
  if (setting.credentials !== null && username + password !== '')
    return ['credentials in a URL are not sent', setting.credentials]
  if (hash !== '') return ['the fragment of a URL is not sent', 'leave out what begins with #']
  if (setting.query === false && search !== '')
    return ['the query of this URL is not sent', 'leave out what begins with ?']
  if (port === '0') return ['nothing can be reached at port 0', 'write the port of the server']
  return isIP(hostname) === 4 && !text.includes(hostname)
    ? ['its host is an unusual form of an address', `write ${hostname}`]
    : null
}
