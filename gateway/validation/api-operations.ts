/** The operations of an OpenAPI contract as a matcher: request method and path → the operation that the contract describes. */
import { DEFAULT_DOCUMENT_LIMITS } from '../../engine/base.ts'
import { readDocument, resolveRef } from '../../engine/internal.ts'
import { recordIn, textIn } from '../json/unchecked-json.ts'
import {
  fold,
  readPath,
  trimmed,
  withoutFormats,
  type LooseSegment,
  type PathReading,
} from '../routing/path-reading.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { isRest, templateOf, templatePart, valuesBetween, type TemplatePart } from './path-templates.ts'

/** As the contract writes them; plain data, since it may come out of a worker. */
export interface OperationTable {
  /** Path parts of the contract's servers (`/v1`, `/{version}`), without a trailing slash; `''` for none. */
  readonly basePaths: readonly string[]
  /** Upper-case method and path template; basePaths: of its own servers, absent where it has none. */
  readonly operations: readonly {
    readonly method: string
    readonly path: string
    readonly basePaths?: readonly string[]
  }[]
}

interface OperationMatch {
  readonly method: string
  /** The template, e.g. `/pets/{petId}`. */
  readonly path: string
  /** The path of the request below the base path of its server, as it is written. */
  readonly below: string
}

/** Of OpenAPI, in the letters of requests. */
export const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'] as const

/** Throws when the text cannot be read: then no call can be matched, and none is judged by it. */
export function readOperations(text: string): OperationTable {
  const document = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  if (!document.ok) throw new Error(document.problem.message)
  const root: unknown = document.value.root
  const paths = recordIn(recordIn(root)['paths'])
  // Many paths may refer to the same servers.
  const known = new Map<unknown, readonly string[]>()
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    itemMethods(item, root).map((method) => {
      const holder = serversHolder(item, method, root)
      const basePaths = holder === null ? null : (known.get(holder) ?? basePathsOf(holder))
      if (basePaths !== null) known.set(holder, basePaths)
      return { method, path, ...(basePaths !== null && { basePaths }) }
    }),
  )
  return { basePaths: basePathsOf(root), operations }
}

/** Whose servers take the place of those of the document: the operation's, else its path's. Null: neither has any. */
function serversHolder(item: unknown, method: string, root: unknown): unknown {
  if (!isJsonObject(item)) return null
  const holder = [item[method.toLowerCase()], item].find((one) => isJsonObject(one) && Array.isArray(one['servers']))
  if (holder !== undefined) return holder
  const target = typeof item['$ref'] === 'string' ? resolveRef(root, item['$ref']) : null
  return target?.kind === 'resolved' && target.value !== item ? serversHolder(target.value, method, root) : null
}

/** Also those behind a `$ref`; every method where it leads nowhere, so that no sibling stands for its path. */
function itemMethods(item: unknown, root: unknown): readonly string[] {
  if (!isJsonObject(item)) return []
  const own = METHODS.filter((method) => Object.hasOwn(item, method.toLowerCase()))
  if (typeof item['$ref'] !== 'string') return own
  const target = resolveRef(root, item['$ref'])
  return target.kind === 'resolved' ? [...new Set([...own, ...itemMethods(target.value, root)])] : METHODS
}

/**
 * OpenAPI 3 `servers[].url`, Swagger 2 `basePath`. A URL with variables in its path is one with any name there, and with the
 * values that it states; servers may also be behind a proxy that removes it.
 */
function basePathsOf(root: unknown): readonly string[] {
  if (!isJsonObject(root)) return ['']
  if (typeof root['basePath'] === 'string') return [trimSlash(root['basePath'])]
  const servers: readonly unknown[] = Array.isArray(root['servers']) ? root['servers'] : []
  const paths = servers.flatMap((server) => {
    const url = isJsonObject(server) ? server['url'] : undefined
    if (typeof url !== 'string' || !isJsonObject(server)) return []
    const path = pathOfServer(url)
    if (!url.includes('{')) return [path]
    const stated = url.replaceAll(
      /\{([^{}]*)\}/g,
      (_, name: string) => variableDefault(server['variables'], name) ?? 'any',
    )
    return path.includes('{') ? ['', path, pathOfServer(stated)] : [path]
  })
  return paths.length === 0 ? [''] : [...new Set(paths)]
}

/** Without the host, which may have variables too. */
function pathOfServer(url: string): string {
  const behindHost = url.replace(/^(?:[^/?#]*:)?\/\/[^/?#]*/, '')
  if (!URL.canParse(behindHost, 'http://contract.invalid')) return ''
  const { pathname } = new URL(behindHost, 'http://contract.invalid')
  return trimSlash(pathname.replaceAll(/%7b/gi, '{').replaceAll(/%7d/gi, '}'))
}

function variableDefault(variables: unknown, name: string): string | null {
  const variable = isJsonObject(variables) && Object.hasOwn(variables, name) ? variables[name] : null
  const value = isJsonObject(variable) ? variable['default'] : null
  return textIn(value)
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

interface OperationTemplate {
  readonly method: string
  readonly path: string
  /** As written, the empty ones included. */
  readonly written: readonly string[]
  readonly parts: readonly TemplatePart[]
}

interface Node {
  /** By folded text. */
  readonly literals: Map<string, Node>
  parameter: Node | null
  rest: Node | null
  /** By the texts around its names. */
  readonly mixed: Map<string, { readonly literals: readonly string[]; readonly node: Node }>
  /** By upper-case method: those that end here. */
  readonly templates: Map<string, OperationTemplate[]>
}

interface OperationMatches {
  /** Each that some common router would run. */
  readonly operations: readonly OperationMatch[]
  /** One of them is what the path says as it is written. */
  readonly isDescribed: boolean
}

export interface OperationMatcher {
  /** @param path of the request at the upstream, without query. Null: its escapes have no single reading. */
  match(method: string, path: string): OperationMatches | null
  /** Whether the path may be that of an operation with another method. */
  hasOtherMethods(method: string, path: string): boolean
}

/** A path that may mean more operations is judged by the contract as a whole. */
const MOST_MEANT = 64
const UNDESCRIBED: OperationMatches = { operations: [], isDescribed: false }
/** Each path is looked for below each of them. */
const MOST_BASES = 1000
/** Of operations with servers of their own. */
const MOST_TEMPLATES = 1_000_000
/** Of one path, each of which is a call within a call. */
const MOST_PARTS = 1000

/** The operations of the servers with one base path. */
interface Base {
  readonly written: readonly string[]
  /** Null: any name. */
  readonly folded: readonly (string | null)[]
  readonly root: Node
}

export function createOperationMatcher(table: OperationTable): OperationMatcher {
  const bases = basesOf(table)
  let asked = { method: '', path: '', answer: true }
  return {
    match(method, path) {
      const reading = readPath(path)
      if (reading === null) return null
      const operations = new Map<string, OperationMatch>()
      let isDescribed = false
      for (const base of bases) {
        const rest = belowBase(base, reading)
        if (rest === null) continue
        const isBaseWritten = base.written.every((text, index) => isWrittenPart(text, reading.written[index]))
        const matches = matchesOf(base.root, method, rest)
        if (matches === null || operations.size > MOST_MEANT) return UNDESCRIBED
        for (const { template, isWritten } of matches) {
          const isMeant = isBaseWritten && isWritten && reading.earlier === null
          isDescribed ||= isMeant
          if (isMeant || !operations.has(template.path))
            operations.set(template.path, { method, path: template.path, below: pathBelow(base, path) })
        }
      }
      return { operations: [...operations.values()], isDescribed }
    },
    hasOtherMethods(method, path) {
      // Each call asks twice: before its body is read, and when it is judged.
      if (path !== asked.path || method !== asked.method)
        asked = { method, path, answer: hasOthers(bases, method, path) }
      return asked.answer
    },
  }
}

function hasOthers(bases: readonly Base[], method: string, path: string): boolean {
  const reading = readPath(path)
  if (reading === null) return true
  const found: OperationTemplate[] = []
  for (const base of bases) {
    const rest = belowBase(base, reading)
    if (rest !== null) collectMatches(base.root, 0, { loose: rest.loose, method: null, found })
  }
  return found.length > MOST_MEANT || found.some((template) => template.method !== method)
}

/** @throws Error for a contract with more servers than paths can be looked for */
function basesOf({ basePaths, operations }: OperationTable): readonly Base[] {
  const common = newTemplateNode()
  const own = new Map<string, Base>()
  let count = 0
  for (const { method, path, basePaths: ownPaths } of operations) {
    if (ownPaths === undefined) addTemplate(common, method, path)
    count += ownPaths?.length ?? 1
    for (const basePath of ownPaths ?? []) {
      const base = own.get(basePath) ?? newBase(basePath, newTemplateNode())
      own.set(basePath, base)
      addTemplate(base.root, method, path)
      if (own.size > MOST_BASES || count > MOST_TEMPLATES) throw new Error(TOO_MANY_SERVERS)
    }
  }
  if (basePaths.length > MOST_BASES) throw new Error(TOO_MANY_SERVERS)
  return [...basePaths.map((basePath) => newBase(basePath, common)), ...own.values()]
}

const TOO_MANY_SERVERS = 'the contract has more servers than paths can be looked for'

function newBase(path: string, root: Node): Base {
  const loose = readPath(path)?.loose ?? []
  const folded = loose.map(({ text, folded: name }) => (text.includes('{') ? null : name))
  return { written: writtenNames(path), folded, root }
}

function pathBelow({ written }: Base, path: string): string {
  return written.length === 0
    ? path
    : `/${path
        .split('/')
        .slice(written.length + 1)
        .join('/')}`
}

/** With escapes decoded, as those of requests are. */
function writtenNames(path: string): readonly string[] {
  const names = path.split('/').slice(1)
  return names.length === 0 ? names : (readPath(path)?.written ?? names)
}

function addTemplate(root: Node, method: string, path: string): void {
  const written = writtenNames(templateOf(path))
  const parts = written.map(templatePart).filter((part) => part.kind !== 'literal' || part.text !== '')
  if (parts.length > MOST_PARTS) throw new Error(`a path of the contract has more than ${MOST_PARTS} segments`)
  if (isRest(written.at(-1) ?? '')) parts.splice(-1, 1, { kind: 'rest' })
  let node = root
  for (const part of parts) node = childFor(node, part)
  const known = node.templates.get(method) ?? []
  known.push({ method, path, written, parts })
  node.templates.set(method, known)
}

function newTemplateNode(): Node {
  return { literals: new Map(), parameter: null, rest: null, mixed: new Map(), templates: new Map() }
}

function childFor(node: Node, part: TemplatePart): Node {
  if (part.kind === 'parameter') return (node.parameter ??= newTemplateNode())
  if (part.kind === 'rest') return (node.rest ??= newTemplateNode())
  if (part.kind === 'mixed') {
    const key = JSON.stringify(part.literals)
    const known = node.mixed.get(key)
    if (known !== undefined) return known.node
    const child = newTemplateNode()
    node.mixed.set(key, { literals: part.literals, node: child })
    return child
  }
  const key = fold(trimmed(part.text))
  const known = node.literals.get(key)
  if (known !== undefined) return known
  const child = newTemplateNode()
  node.literals.set(key, child)
  return child
}

/** What follows the base path; null: it stands elsewhere, however it is read. */
function belowBase({ written, folded }: Base, reading: PathReading): PathReading | null {
  if (folded.length === 0 && written.length === 0) return reading
  const isBelow = folded.every((text, index) => text === null || reading.loose[index]?.folded === text)
  if (!isBelow || reading.loose.length < folded.length) return null
  return {
    ...reading,
    written: reading.written.slice(written.length),
    loose: reading.loose.slice(folded.length),
  }
}

interface TemplateMatch {
  readonly template: OperationTemplate
  /** The template says the path as it is written. */
  readonly isWritten: boolean
}

/**
 * All that match the loosest reading, but for those that every router leaves to a sibling that says the path literally (OpenAPI 3.1,
 * Path Templating). Null: they are too many to be compared with each other.
 */
function matchesOf(root: Node, method: string, { loose, written }: PathReading): readonly TemplateMatch[] | null {
  const found: OperationTemplate[] = []
  collectMatches(root, 0, { loose, method, found })
  if (found.length > MOST_MEANT) return null
  const [only, ...others] = found
  const kept =
    only === undefined || others.length === 0
      ? found
      : found.filter((one) => !found.some((other) => other !== one && takesBefore(other, one, loose)))
  return kept.map((template) => ({ template, isWritten: isWrittenAs(template, written) }))
}

interface MatchSearch {
  readonly loose: readonly LooseSegment[]
  /** Null: any. */
  readonly method: string | null
  readonly found: OperationTemplate[]
}

function collectMatches(node: Node, index: number, search: MatchSearch): void {
  const { loose, method, found } = search
  if (found.length > MOST_MEANT) return
  const segment = loose[index]
  if (segment === undefined) {
    const ending = method === null ? [...node.templates.values()].flat() : node.templates.get(method)
    if (ending !== undefined) found.push(...ending)
    return
  }
  const isLast = index === loose.length - 1
  // Only the last name has a format behind it.
  const readings = isLast && segment.folded.includes('.') ? withoutFormats(segment.folded) : [segment.folded]
  for (const text of readings) {
    const literal = node.literals.get(text)
    if (literal !== undefined) collectMatches(literal, index + 1, search)
  }
  for (const { literals, node: child } of node.mixed.values())
    if (readings.some((text) => valuesBetween(literals, text) !== null)) collectMatches(child, index + 1, search)
  if (node.parameter !== null) collectMatches(node.parameter, index + 1, search)
  if (node.rest !== null) collectMatches(node.rest, loose.length, search)
}

/** True where `one` has a name wherever `other` has one, and the path itself says those that only `one` has. */
function takesBefore(one: OperationTemplate, other: OperationTemplate, loose: readonly LooseSegment[]): boolean {
  let isCloser = false
  for (const [index, segment] of loose.entries()) {
    const [part, than] = [one.parts[index], other.parts[index]]
    if (part === undefined || than === undefined) return false
    if (part.kind === 'literal' && than.kind !== 'literal') {
      if (!segment.isPlain || segment.text !== part.text) return false
      isCloser = true
    } else if (part.kind !== than.kind) return false
    else if (part.kind === 'literal' && than.kind === 'literal' && part.text !== than.text) return false
  }
  return isCloser
}

function isWrittenAs({ written }: OperationTemplate, segments: readonly string[]): boolean {
  return written.length === segments.length && written.every((text, index) => isWrittenPart(text, segments[index]))
}

function isWrittenPart(text: string, segment = ''): boolean {
  return text.includes('{') ? segment !== '' : text === segment
}
