/** Every setting as one row: docs/config.md, the chart and the environment overrides are made from this table. */
import { lookupTable } from '../../engine/base.ts'
import type { JsonSchema } from '../settings/input-schema.ts'
import { configInputSchema } from './input-schema.ts'

export interface ConfigLeaf {
  /** With dots; members of list items after `[]`, e.g. `routes[].name`. */
  readonly path: string
  /** For people: `string`, `integer`, `"a" | "b"`, `list`, `map` … */
  readonly type: string
  /** The variable that overrides it; null inside lists (the whole list has one). */
  readonly env: string | null
  /** Further names of the variable, promised in docs/reference/command-line.md#names-of-variables. */
  readonly aliases: readonly string[]
  /** Undefined: none. */
  readonly default: unknown
  readonly description: string
  /** A change takes effect at the next start. */
  readonly restart: boolean
  readonly schema: JsonSchema
}

/** Names promised by docs/reference/command-line.md#names-of-variables that differ from the generated ones. */
const ALIASES: Readonly<Record<string, readonly string[]>> = lookupTable({
  'listen.proxy': ['PREFLIGHT_PROXY_LISTEN'],
  'listen.api': ['PREFLIGHT_API_LISTEN'],
  'listen.admin': ['PREFLIGHT_ADMIN_LISTEN'],
})

/** Settings that are used once, at the start: sockets, files, threads, sinks. */
export const RESTART_SECTIONS = [
  'data_dir',
  'listen',
  'store',
  'ledger',
  'signer',
  'monitoring',
  'decision_log',
  'otel',
  'analysis',
  'tls',
] as const

/** Members of `limits` that are used once too, while the rest of the section changes live. */
export const RESTART_LIMITS = ['queue', 'head_timeout'] as const

export const CONFIG_LEAVES: readonly ConfigLeaf[] = leavesOf(configInputSchema, '', false)

function leavesOf(schema: JsonSchema, path: string, isInList: boolean): readonly ConfigLeaf[] {
  if (schema.properties !== undefined)
    return Object.entries(schema.properties).flatMap(([name, member]) =>
      leavesOf(member, path === '' ? name : `${path}.${name}`, isInList),
    )
  const row = leaf(schema, path, isInList)
  return schema.items === undefined ? [row] : [row, ...itemLeaves(schema.items, path)]
}

function itemLeaves(items: JsonSchema, path: string): readonly ConfigLeaf[] {
  const variants = (items.anyOf ?? [items]).filter(({ properties }) => properties !== undefined)
  const rows = variants.flatMap((variant) => leavesOf(variant, `${path}[]`, true))
  const seen = new Map<string, ConfigLeaf>()
  for (const row of rows) {
    const before = seen.get(row.path)
    const type = before === undefined || before.type === row.type ? row.type : `${before.type} | ${row.type}`
    seen.set(row.path, { ...(before ?? row), type })
  }
  return [...seen.values()]
}

function leaf(schema: JsonSchema, path: string, isInList: boolean): ConfigLeaf {
  return {
    path,
    type: leafType(schema),
    env: isInList ? null : `PREFLIGHT_${path.replaceAll('.', '_').toUpperCase()}`,
    aliases: ALIASES[path] ?? [],
    default: schema.default,
    description: schema.description ?? '',
    restart:
      RESTART_LIMITS.some((name) => path === `limits.${name}`) ||
      RESTART_SECTIONS.some((section) => path === section || path.startsWith(`${section}.`)),
    schema,
  }
}

function leafType(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(leafType).join(' | ')
  if (schema.items !== undefined) return `list of ${schema.items.type ?? 'object'}s`
  if (schema.patternProperties !== undefined) return 'map'
  if (schema.properties !== undefined) return `{${Object.keys(schema.properties).join(', ')}}`
  return schema.type ?? 'any'
}
