/** The corpus pairs: real consecutive versions of public contracts, beside the checkout (visibly absent for those who only cloned it). */
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArtifactType } from '../../engine/internal.ts'
import { LARGE_TYPES, largePair } from '../../test/fakes/large-contracts.ts'
import { bytesOf } from './side.ts'

const CORPUS = join(import.meta.dirname, '../../../shared/corpus')

/** Folders of the corpus, and what is in them. */
const FOLDERS: Readonly<Record<string, ArtifactType>> = {
  openapi: 'openapi',
  mcp: 'mcp_manifest',
  graphql: 'graphql',
  protobuf: 'protobuf',
  asyncapi: 'asyncapi',
}

export interface Pair {
  readonly name: string
  readonly type: ArtifactType
  /** Paths of files, or of folders with the files of a set. */
  readonly before: string
  readonly after: string
  /** Of both sides. */
  readonly bytes: number
}

export function isPair(value: unknown): value is Pair {
  return typeof value === 'object' && value !== null && 'before' in value && 'after' in value && 'type' in value
}

function sideOf(folder: string, side: 'before' | 'after'): string | null {
  const name = readdirSync(folder).find(
    (entry) => /^(?:before|after)(?:\.(?:json|ya?ml|graphql))?$/.test(entry) && entry.startsWith(side),
  )
  return name === undefined ? null : join(folder, name)
}

function readPair(format: string, type: ArtifactType, name: string): Pair | null {
  const folder = join(CORPUS, format, name)
  if (!statSync(folder).isDirectory()) return null
  const [before, after] = [sideOf(folder, 'before'), sideOf(folder, 'after')]
  if (before === null || after === null) return null
  return { name: `${format}/${name}`, type, before, after, bytes: bytesOf(before) + bytesOf(after) }
}

/** Every pair, largest first; null when the corpus is not there. */
export function corpusPairs(): readonly Pair[] | null {
  if (!existsSync(CORPUS)) return null
  const pairs = Object.entries(FOLDERS).flatMap(([format, type]) =>
    readdirSync(join(CORPUS, format)).map((name) => readPair(format, type, name)),
  )
  return pairs.filter((pair) => pair !== null).sort((a, b) => b.bytes - a.bytes)
}

const MADE_BYTES = 2_000_000

/** Pairs of the formats of which the corpus has none, made of many small parts with one change, as files of a folder. */
export function madePairs(folder: string): readonly Pair[] {
  const known = new Set(Object.values(FOLDERS))
  return LARGE_TYPES.filter((type) => !known.has(type)).map((type) => {
    const { before, after } = largePair(type, MADE_BYTES)
    const paths = { before: join(folder, `${type}-before`), after: join(folder, `${type}-after`) }
    writeFileSync(paths.before, before)
    writeFileSync(paths.after, after)
    return { name: `made/${type}`, type, ...paths, bytes: bytesOf(paths.before) + bytesOf(paths.after) }
  })
}

const HOSTILE_BYTES = 8_000_000

/** What of a contract is made to weigh the most: values or properties that are all others after the change, or are all changed. */
const HOSTILE_SCHEMAS: Readonly<Record<string, (side: 'before' | 'after') => unknown>> = {
  'an enum replaced': (side) => ({ enum: names(side.charAt(0), 10) }),
  'properties replaced': (side) => schemaOf(names(side.charAt(0), 27), { type: 'string' }),
  'properties changed': (side) => schemaOf(names('p', 27), { type: side === 'before' ? 'string' : 'integer' }),
}

/** As many names as fill the text, each of which brings so many bytes. */
function names(prefix: string, bytesEach: number): readonly string[] {
  return Array.from({ length: HOSTILE_BYTES / bytesEach }, (_, index) => `${prefix}${index.toString(36)}`)
}

function schemaOf(properties: readonly string[], schema: unknown): unknown {
  return { type: 'object', properties: Object.fromEntries(properties.map((name) => [name, schema])) }
}

/** OpenAPI pairs of which every byte is a change, as files of a folder. */
export function hostilePairs(folder: string): readonly Pair[] {
  return Object.entries(HOSTILE_SCHEMAS).map(([name, schemaFor], index) => {
    const [before, after] = (['before', 'after'] as const).map((side) => {
      const path = join(folder, `hostile-${index}-${side}`)
      const content = { 'application/json': { schema: schemaFor(side) } }
      const post = { requestBody: { content }, responses: { 200: { description: 'done' } } }
      writeFileSync(
        path,
        JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths: { '/x': { post } } }),
      )
      return path
    })
    if (before === undefined || after === undefined) throw new Error('a pair has two sides')
    return { name, type: 'openapi', before, after, bytes: bytesOf(before) + bytesOf(after) }
  })
}

/** The text of a JSON side with the members of every object in another order, by a seeded generator. */
export function shuffledJson(path: string, seed: number): string {
  let state = seed >>> 0
  // xorshift32: any order will do, so long as a seed repeats it.
  const next = (bound: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
  const shuffle = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffle)
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).map(([name, inner]): [string, unknown] => [name, shuffle(inner)])
    for (let index = members.length - 1; index > 0; index -= 1) {
      const other = next(index + 1)
      const moved = members[index]
      const swapped = members[other]
      if (moved === undefined || swapped === undefined) continue
      members[index] = swapped
      members[other] = moved
    }
    return Object.fromEntries(members)
  }
  const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return JSON.stringify(shuffle(parsed))
}
