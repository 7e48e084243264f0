/** Where the level of a rule is not the one that variance gives: the rows say which, and because of what. */
import type { Level } from '../finding.ts'

export interface RuleException {
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
    rules: ['tool-input-property-removed'],
    level: 'breaking',
    because:
      'An agent that still gives the argument is refused, or gets something else than it asked for without being told.',
  },
  {
    rules: ['tool-output-optional-property-removed'],
    level: 'breaking',
    because:
      'An agent reads results by the names that it was told: what is gone for good is missed by whoever used it.',
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
    rules: ['request-parameter-property-type-changed'],
    level: 'dangerous',
    because: 'How a parameter is serialised decides whether its property types are told apart at all.',
  },
  {
    rules: ['response-body-any-of-added', 'response-property-any-of-added'],
    level: 'info',
    because: 'Readers of anyOf already expect values that match any mix of the alternatives.',
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
      'response-body-pattern-removed',
      'response-property-pattern-removed',
      'response-header-pattern-removed',
      'response-header-property-pattern-removed',
    ],
    level: 'info',
    because:
      'Readers seldom rest on the pattern of what they read, and a removed pattern does not say that values change.',
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
