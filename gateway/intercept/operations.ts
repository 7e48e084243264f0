/** The operations of an OpenAPI contract as a matcher: request method and path → the operation that the contract describes. */
import { DEFAULT_DOCUMENT_LIMITS } from '../../engine/base.ts'
import { readDocument } from '../../engine/index.ts'
import { isJsonObject } from './strict-json.ts'

/** As the contract writes them; plain data, since it may come out of a worker. */
export interface OperationTable {
  /** Path parts of the contract's servers (`/v1`), without a trailing slash; `''` for none. */
  readonly basePaths: readonly string[]
  /** Upper-case method and path template. */
  readonly operations: readonly { readonly method: string; readonly path: string }[]
}

export interface OperationMatch {
  readonly method: string
  /** The template, e.g. `/pets/{petId}`. */
  readonly path: string
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** Throws when the text cannot be read: then no call can be matched, and none is judged by it. */
export function readOperations(text: string): OperationTable {
  const document = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  if (!document.ok) throw new Error(document.problem.message)
  const root: unknown = document.value.root
  const paths = isJsonObject(root) && isJsonObject(root['paths']) ? root['paths'] : {}
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    isJsonObject(item)
      ? METHODS.filter((method) => Object.hasOwn(item, method)).map((method) => ({
          method: method.toUpperCase(),
          path,
        }))
      : [],
  )
  return { basePaths: basePathsOf(root), operations }
}

/** OpenAPI 3 `servers[].url`, Swagger 2 `basePath`; a URL with variables in its path says nothing that can be matched. */
function basePathsOf(root: unknown): readonly string[] {
  if (!isJsonObject(root)) return ['']
  if (typeof root['basePath'] === 'string') return [trimSlash(root['basePath'])]
  const servers: readonly unknown[] = Array.isArray(root['servers']) ? root['servers'] : []
  const paths = servers.flatMap((server) => {
    const url = isJsonObject(server) ? server['url'] : undefined
    if (typeof url !== 'string' || !URL.canParse(url, 'http://contract.invalid')) return []
    const { pathname } = new URL(url, 'http://contract.invalid')
    return /[{}]|%7b/i.test(pathname) ? [] : [trimSlash(pathname)]
  })
  return paths.length === 0 ? [''] : [...new Set(paths)]
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

interface Node {
  readonly literals: Map<string, Node>
  /** Child for a segment that holds a parameter (`{id}`, `{id}.json`). */
  parameter: Node | null
  /** Upper-case method → template. */
  readonly templates: Map<string, string>
}

export interface OperationMatcher {
  /** @param path of the request at the upstream, without query. Null when the contract has no such operation. */
  match(method: string, path: string): OperationMatch | null
}

export function createOperationMatcher(table: OperationTable): OperationMatcher {
  const root = newNode()
  for (const { method, path } of table.operations) {
    let node = root
    for (const segment of path.split('/')) node = childFor(node, segment)
    node.templates.set(method, path)
  }
  return {
    match(method, path) {
      for (const base of table.basePaths) {
        if (base !== '' && path !== base && !path.startsWith(`${base}/`)) continue
        const template = find(root, path.slice(base.length).split('/').map(decodeSegment), 0, method)
        if (template !== null) return { method, path: template }
      }
      return null
    },
  }
}

function newNode(): Node {
  return { literals: new Map(), parameter: null, templates: new Map() }
}

function childFor(node: Node, segment: string): Node {
  if (segment.includes('{')) return (node.parameter ??= newNode())
  const known = node.literals.get(segment)
  if (known !== undefined) return known
  const child = newNode()
  node.literals.set(segment, child)
  return child
}

/** A literal segment wins over a parameter (OpenAPI 3.1, Path Templating). */
function find(node: Node, segments: readonly string[], index: number, method: string): string | null {
  const segment = segments[index]
  if (segment === undefined) return node.templates.get(method) ?? null
  const literal = node.literals.get(segment)
  const found = literal === undefined ? null : find(literal, segments, index + 1, method)
  if (found !== null) return found
  return node.parameter === null || segment === '' ? null : find(node.parameter, segments, index + 1, method)
}

/** `%61dmin` is `admin` to the upstream. Broken escapes were refused before. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    // Escaped bytes that are not UTF-8: no literal of a contract can equal them.
    return segment
  }
}
