/** Rules whose level differs from the one that variance gives, each with the reason. */
import type { Level } from '../model/finding.ts'

interface RuleException {
  readonly rules: readonly string[]
  readonly level: Level
  readonly because: string
}

const EXCEPTIONS: readonly RuleException[] = [
  {
    rules: ['crd-optional-property-removed'],
    level: 'breaking',
    because:
      'The API server drops members that the schema does not name: what is stored there is lost without an error the next time the object is written.',
  },
  {
    rules: ['crd-property-became-required-with-default', 'new-required-crd-property-with-default'],
    level: 'info',
    because:
      'The API server fills in the default before it validates, so an object without the property is still accepted.',
  },
  {
    rules: [
      'crd-schema-default-value-added',
      'crd-schema-default-value-changed',
      'crd-schema-default-value-removed',
      'crd-property-default-value-added',
      'crd-property-default-value-changed',
      'crd-property-default-value-removed',
    ],
    level: 'dangerous',
    because:
      'The API server stores and returns the default: an object without the property is another one than before.',
  },
  {
    rules: ['tool-input-property-removed'],
    level: 'breaking',
    because:
      'An agent that still gives the argument is refused, or gets another result than it asked for without an error.',
  },
  {
    rules: ['tool-output-optional-property-removed'],
    level: 'breaking',
    because: 'An agent reads results by the names in the manifest. It misses a name that is removed.',
  },
  {
    rules: [
      'request-parameter-default-value-added',
      'request-parameter-default-value-changed',
      'request-parameter-default-value-removed',
    ],
    level: 'breaking',
    because: 'A caller that leaves the parameter out gets another behaviour without having changed anything.',
  },
  {
    rules: [
      'tool-input-default-value-changed',
      'tool-input-default-value-removed',
      'tool-input-property-default-value-changed',
      'tool-input-property-default-value-removed',
    ],
    level: 'dangerous',
    because: 'An agent that leaves the argument out does something else than before, such as in another environment.',
  },
  {
    rules: ['request-parameter-property-type-changed'],
    level: 'dangerous',
    because: 'How a parameter is serialised decides whether its property types are distinguished at all.',
  },
  {
    rules: [
      'response-body-enum-value-added',
      'response-property-enum-value-added',
      'response-header-enum-value-added',
      'response-header-property-enum-value-added',
      'tool-output-enum-value-added',
      'tool-output-property-enum-value-added',
      'sent-payload-enum-value-added',
      'sent-message-property-enum-value-added',
      'sent-headers-enum-value-added',
      'sent-header-property-enum-value-added',
    ],
    level: 'dangerous',
    because: 'A reader with a default case copes with a new value; one without fails.',
  },
  {
    rules: [
      'response-body-pattern-changed',
      'response-property-pattern-changed',
      'response-header-pattern-changed',
      'response-header-property-pattern-changed',
      'callback-request-body-pattern-changed',
      'callback-request-property-pattern-changed',
      'tool-output-pattern-changed',
      'tool-output-property-pattern-changed',
      'sent-payload-pattern-changed',
      'sent-message-property-pattern-changed',
      'sent-headers-pattern-changed',
      'sent-header-property-pattern-changed',
    ],
    level: 'dangerous',
    because: 'Another pattern admits texts that the old one refused, unless it is proved that it does not.',
  },
  {
    rules: [
      'response-body-all-of-removed',
      'response-property-all-of-removed',
      'response-header-all-of-removed',
      'response-header-property-all-of-removed',
      'callback-request-body-all-of-removed',
      'callback-request-property-all-of-removed',
      'tool-output-all-of-removed',
      'tool-output-property-all-of-removed',
      'sent-payload-all-of-removed',
      'sent-message-property-all-of-removed',
      'sent-headers-all-of-removed',
      'sent-header-property-all-of-removed',
    ],
    level: 'breaking',
    because: 'Values that readers receive need not meet this part any more.',
  },
  {
    rules: [
      'callback-parameter-required-property-became-write-only',
      'callback-request-required-property-became-write-only',
      'response-header-required-property-became-write-only',
      'response-required-property-became-write-only',
      'sent-header-required-property-became-write-only',
      'sent-message-required-property-became-write-only',
      'tool-output-required-property-became-write-only',
    ],
    level: 'breaking',
    because: 'A write-only property is not in answers: readers miss what was always there.',
  },
  {
    rules: [
      'callback-parameter-optional-property-became-write-only',
      'callback-request-optional-property-became-write-only',
      'response-header-optional-property-became-write-only',
      'response-optional-property-became-write-only',
      'sent-header-optional-property-became-write-only',
      'sent-message-optional-property-became-write-only',
      'tool-output-optional-property-became-write-only',
    ],
    level: 'dangerous',
    because: 'A write-only property is not in answers: it is lost to readers as one that is removed.',
  },
  {
    rules: ['request-required-property-became-not-read-only'],
    level: 'breaking',
    because: 'Callers did not send the property and must from now on.',
  },
  {
    rules: ['response-required-property-became-not-write-only'],
    level: 'dangerous',
    because: 'The property now appears in answers that never held it.',
  },
]

const BY_RULE: ReadonlyMap<string, RuleException> = new Map(
  EXCEPTIONS.flatMap((row) => row.rules.map((id) => [id, row] as const)),
)

export function exceptionOf(rule: string): RuleException | undefined {
  return BY_RULE.get(rule)
}

/** Ids of all rules with an exception. */
export function exceptionIds(): readonly string[] {
  return [...BY_RULE.keys()]
}
