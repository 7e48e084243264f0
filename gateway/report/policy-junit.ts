/** The test cases of a policy pack, or the decisions it was replayed on, as JUnit XML, for the test tab of a CI server. */
import { attributes, escaped, type XmlAttributes } from './xml.ts'

type CaseFact = string | number | undefined

/** A case, and what came out otherwise than wanted. */
export interface CaseResult {
  readonly description: string
  /** Why it was not run. */
  readonly skipped?: string
  readonly differences: readonly { readonly member: string; readonly want: CaseFact; readonly got: CaseFact }[]
}

/**
 * @param command that ran them, as the suites are named
 * @param pack name of the pack
 */
export function renderCases(command: string, pack: string, outcomes: readonly CaseResult[]): string {
  const failures = outcomes.filter(({ differences }) => differences.length > 0).length
  const skipped = outcomes.filter((outcome) => outcome.skipped !== undefined).length
  const counts: XmlAttributes = { tests: outcomes.length, failures, errors: 0, skipped }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: command, ...counts })}>`,
    `<testsuite${attributes({ name: pack, ...counts })}>`,
    ...outcomes.map((outcome) => caseElement(pack, outcome)),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseElement(pack: string, { description, differences, skipped }: CaseResult): string {
  const named = attributes({ classname: pack, name: description })
  if (skipped !== undefined) return `<testcase${named}><skipped${attributes({ message: skipped })}/></testcase>`
  if (differences.length === 0) return `<testcase${named}/>`
  const lines = differences.map(({ member, want, got }) => `${member}: want ${want}, got ${got ?? 'none'}`)
  const failure = attributes({ type: 'policy', message: lines[0] ?? '' })
  return `<testcase${named}><failure${failure}>${escaped(lines.join('\n'))}</failure></testcase>`
}
