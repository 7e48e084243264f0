/**
 * Proven breaks that are a warning only, by kind, each kind with the reason why it is not breaking. One without a reason is a
 * level that is too mild.
 */

interface WarningKind {
  /** What users lose: `narrowed` is a value that callers may no longer send, `widened` a new one that readers get. */
  readonly effect: 'narrowed' | 'widened'
  /** The rules that warn; the place before the change is left out. */
  readonly rules: RegExp
  readonly reason: string
}

const KINDS: Readonly<Record<string, WarningKind>> = {
  'published schema admits more': {
    effect: 'widened',
    rules: /^(?:schema|crd)-/,
    reason: 'Who writes such values is not refused, and who reads them may not be a party to this contract.',
  },
  'first bound': {
    effect: 'narrowed',
    rules: /-(?:max|min|exclusive-max|exclusive-min|max-length|min-items)-set$/,
    reason: 'Documents often state late what servers always did. What the contract stated before is breaking.',
  },
  'pattern changed': {
    effect: 'narrowed',
    rules: /-pattern-changed$/,
    reason: 'As for a first bound; breaking where a listed text is refused.',
  },
  'property of an open object removed': {
    effect: 'narrowed',
    rules: /-property-removed$/,
    reason: 'The object takes the name with any value; whether a server ignores it is not stated.',
  },
  'condition of a whole': {
    effect: 'narrowed',
    rules: /-(?:any-of|one-of|prefix-items|all-of)-(?:introduced|dropped|removed)$/,
    reason: 'It is breaking where a value that users know shows it, by a finding of its own.',
  },
  'overlap or unnamed members refused': {
    effect: 'narrowed',
    rules: /-values(?:-perhaps)?-refused$/,
    reason:
      'Only values that several alternatives of oneOf admit, or with names that no contract lists; or there is no proof.',
  },
  'alternative that overlaps': {
    effect: 'widened',
    rules: /-(?:any-of|one-of)-(?:added|dropped|removed)$|-(?:became-nullable|type-generalized|list-of-types-widened)$/,
    reason:
      'Such values were refused only because several alternatives of oneOf admit them, or nothing was admitted before.',
  },
  'overlap or unknown members admitted': {
    effect: 'widened',
    rules: /-values(?:-perhaps)?-admitted$/,
    reason: 'Only such values, or names that readers do not know and ignore; or there is no proof.',
  },
  'property or header that readers could not count on removed': {
    effect: 'widened',
    rules: /optional-(?:property|response-header)-removed$|^optional-response-header-removed$/,
    reason: 'It was optional, so readers did without it; its name may come with another value.',
  },
  'listed values': {
    effect: 'widened',
    rules: /-(?:enum-value-added|became-not-enum)$/,
    reason: 'Lists of values grow often, and readers are asked to tolerate new ones.',
  },
  'pattern of readers changed': {
    effect: 'widened',
    rules: /-pattern-changed$/,
    reason: 'It may let through texts that the old pattern refused.',
  },
}

/** The kind of a warning by its findings (`level rule location`); null if no reason is known for it. */
export function warningKindOf(effect: 'narrowed' | 'widened', findings: readonly string[]): string | null {
  const rules = findings.flatMap((finding) => {
    const [level, rule = ''] = finding.split(' ')
    return level === 'dangerous' ? [rule] : []
  })
  const known = Object.entries(KINDS).find(
    ([, kind]) => kind.effect === effect && rules.some((rule) => kind.rules.test(rule)),
  )
  return known?.[0] ?? null
}

/** The kind of warnings for which no reason is known. */
export const NO_REASON = 'no reason is known'
