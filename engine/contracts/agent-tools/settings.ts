/** Settings of tools in one form: without defaults that are written out, and with sets in one order. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, recordOf, type JsonRecord, type Located } from '../../schema/located.ts'

/** Defaults of the providers. A flag that is off is one too. */
const DEFAULTS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['allowed_callers', [['direct']]],
  ['behavior', ['BLOCKING', 'UNSPECIFIED']],
  ['requireConfirmation', ['DISABLED']],
  ['require_approval', ['always']],
])

/** Whether the tools of a server are offered, and found by a search only: the defaults of Anthropic. */
const OF_TOOLSET: JsonRecord = { enabled: true, defer_loading: false }
const OF_ALL = 'default_config'

/** Null: the setting is as if it were absent. `owner` is the tool. */
export function plainSetting(name: string, value: unknown, owner: JsonRecord): unknown {
  if (value === undefined || value === null || value === false) return null
  if (name === 'headers') return fieldNames(value)
  const plain = withoutToolsetDefaults(name, withSortedSets(value), owner)
  return DEFAULTS.get(name)?.some((fallback) => isEqual(fallback, plain)) === true ? null : plain
}

/** Credentials of the caller. They come and go, and choose nothing. */
const CREDENTIALS = /^(?:proxy-)?authorization$|^(?:x-)?api-key$|^cookie$/

/** The names of the fields that a server gets. Their values may be secrets. Null: there are none. */
function fieldNames(headers: unknown): unknown {
  if (!isRecord(headers)) return 'of another form'
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const chosen = names.filter((name) => !CREDENTIALS.test(name)).toSorted(byCodeUnit)
  return chosen.length === 0 ? null : chosen
}

function withoutToolsetDefaults(name: string, value: unknown, owner: JsonRecord): unknown {
  if (!isRecord(value)) return value
  if (name === OF_ALL || name === 'tool_configuration') return unlike(OF_TOOLSET, value)
  if (name !== 'configs') return value
  // A tool may have other settings than all of them.
  const ofAll = { ...OF_TOOLSET, ...recordOf(owner[OF_ALL]) }
  const entries = Object.entries(value).map(([tool, one]) => [tool, isRecord(one) ? unlike(ofAll, one) : one] as const)
  return orNull(Object.fromEntries(entries.filter(([, one]) => one !== null)))
}

/** The members that differ from the defaults. Null: none does. */
function unlike(defaults: JsonRecord, value: JsonRecord): JsonRecord | null {
  const stated = Object.entries(value).filter(([name, one]) => one !== null && !isEqual(defaults[name], one))
  return orNull(Object.fromEntries(stated))
}

function orNull(value: JsonRecord): JsonRecord | null {
  return Object.keys(value).length === 0 ? null : value
}

/** Lists of names in settings are sets: domains, callers, files, tools. */
function withSortedSets(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    const texts = items.filter((item) => typeof item === 'string')
    return texts.length === items.length ? texts.toSorted(byCodeUnit) : items.map(withSortedSets)
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withSortedSets(part)]))
}

/** The input format of a custom tool. Free text is the default, and chat completions put the grammar one level deeper. */
export function plainFormat(format: Located | null): Located | null {
  if (format === null || !isRecord(format.value)) return format
  const { grammar, ...rest } = format.value
  if (rest['type'] === 'text') return null
  return isRecord(grammar) ? { ...format, value: { ...rest, ...grammar } } : format
}
