/** The corpus pairs: real consecutive versions of public contracts, beside the checkout (visibly absent for those who only cloned it). */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const CORPUS = join(import.meta.dirname, '../../../shared/corpus')

/** Folders of the corpus whose format the engine compares. */
const FORMATS = { openapi: 'openapi', mcp: 'mcp_manifest' } as const

export interface Pair {
  readonly name: string
  readonly type: 'openapi' | 'mcp_manifest'
  /** Paths. */
  readonly before: string
  readonly after: string
  /** Of both sides. */
  readonly bytes: number
}

export function isPair(value: unknown): value is Pair {
  return typeof value === 'object' && value !== null && 'before' in value && 'after' in value && 'type' in value
}

function sideOf(folder: string, side: string): string | null {
  const name = readdirSync(folder).find((file) => /^(before|after)\.(json|ya?ml)$/.test(file) && file.startsWith(side))
  return name === undefined ? null : join(folder, name)
}

function readPair(format: keyof typeof FORMATS, name: string): Pair | null {
  const folder = join(CORPUS, format, name)
  if (!statSync(folder).isDirectory()) return null
  const before = sideOf(folder, 'before')
  const after = sideOf(folder, 'after')
  if (before === null || after === null) return null
  const bytes = statSync(before).size + statSync(after).size
  return { name: `${format}/${name}`, type: FORMATS[format], before, after, bytes }
}

/** Every pair, largest first; null when the corpus is not there. */
export function corpusPairs(): readonly Pair[] | null {
  if (!existsSync(CORPUS)) return null
  const pairs = (['openapi', 'mcp'] as const).flatMap((format) =>
    readdirSync(join(CORPUS, format)).map((name) => readPair(format, name)),
  )
  return pairs.filter((pair) => pair !== null).sort((a, b) => b.bytes - a.bytes)
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
