/** A pack whose form has mistakes, as far as its meaning can be checked all the same: one answer reports both kinds of mistake. */
import { LEVELS } from '../model/finding.ts'
import type { SchemaViolation } from '../common/violation.ts'
import type { PolicyDocument } from './schema.ts'
import type { JsonRecord } from '../schema/located.ts'

/** The lists whose entries have a meaning of their own. */
export type MeaningfulParts = Pick<PolicyDocument, 'rules'> &
  Required<Pick<PolicyDocument, 'waivers' | 'freezes'>> & {
    /** By selectors of rules. */
    readonly levels: Levels
  }

type Levels = NonNullable<PolicyDocument['levels']>
type List = 'rules' | 'waivers' | 'freezes'

/**
 * Entries keep their index, so that pointers stay right. An entry with a mistake in its form is replaced by a neutral one; of a
 * rule, id and condition stay where their own form is good. A list with a mistake of its own (too long, no list) is left out.
 */
export function readableParts(source: unknown, violations: readonly SchemaViolation[]): MeaningfulParts {
  const document = asMembers(source)
  const isFaulty = (pointer: string): boolean => violations.some(({ instancePath }) => instancePath === pointer)
  const isFaultyBelow = (pointer: string): boolean =>
    violations.some(({ instancePath }) => instancePath === pointer || instancePath.startsWith(`${pointer}/`))
  const entries = <Entry>(list: List, neutral: (given: JsonRecord, index: number) => Entry): Entry[] => {
    const given = document[list]
    if (!Array.isArray(given) || isFaulty(`/${list}`)) return []
    return given.map((entry: Entry, index) =>
      isFaultyBelow(`/${list}/${index}`) ? neutral(asMembers(entry), index) : entry,
    )
  }
  const kept = (value: unknown, pointer: string, otherwise: string): string =>
    typeof value === 'string' && !isFaulty(pointer) ? value : otherwise
  return {
    rules: entries<PolicyDocument['rules'][number]>('rules', (given, index) => ({
      id: kept(given['id'], `/rules/${index}/id`, unnamed(index)),
      when: kept(given['when'], `/rules/${index}/when`, 'true'),
      then: 'BLOCK',
      for: given['for'] === 'change_set' ? 'change_set' : 'finding',
    })),
    levels: isFaultyBelow('/levels') ? {} : levelsIn(asMembers(document['levels'])),
    waivers: entries<MeaningfulParts['waivers'][number]>('waivers', (_, index) => neutralWaiver(index)),
    freezes: entries<MeaningfulParts['freezes'][number]>('freezes', (_, index) => neutralFreeze(index)),
  }
}

function levelsIn(given: JsonRecord): Levels {
  const levels: Levels = {}
  for (const [selector, stated] of Object.entries(given)) {
    const level = stated === 'off' ? stated : LEVELS.find((known) => known === stated)
    if (level !== undefined) levels[selector] = level
  }
  return levels
}

/** No id of a sound entry looks like this. */
const unnamed = (index: number): string => `#${index}`

function neutralWaiver(index: number) {
  return { id: unnamed(index), fingerprint: 'none', reason: 'none', owner: 'none', expires: '2000-01-01' }
}

function neutralFreeze(index: number) {
  const [from, until] = ['2000-01-01T00:00:00Z', '2000-01-02T00:00:00Z']
  return { id: unnamed(index), from, until, operations: ['none'], reason: 'none' }
}

function asMembers(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
