/** Settings of tools in one form: without defaults that are written out, and with sets in one order. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, type Located } from '../../schema/located.ts'

/** Defaults of the providers. A flag that is off is one too. */
const DEFAULTS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['allowed_callers', [['direct']]],
  ['behavior', ['BLOCKING', 'UNSPECIFIED']],
  ['requireConfirmation', ['DISABLED']],
  ['require_approval', ['always']],
])

/** Null: the setting is as if it were absent. */
export function plainSetting(name: string, value: unknown): unknown {
  if (value === undefined || value === null || value === false) return null
  const plain = withSortedSets(value)
  return DEFAULTS.get(name)?.some((fallback) => isEqual(fallback, plain)) === true ? null : plain
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
