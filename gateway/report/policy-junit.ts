/** The test cases of a policy pack as JUnit XML, for the test tab of a CI server. */
import { attributes, escaped, type Attributes } from './xml.ts'

type Fact = string | number | undefined

/** A case, and what came out otherwise than wanted. */
export interface CaseResult {
  readonly description: string
  readonly differences: readonly { readonly member: string; readonly want: Fact; readonly got: Fact }[]
}

/** @param pack name of the pack */
export function renderCases(pack: string, outcomes: readonly CaseResult[]): string {
  const failures = outcomes.filter(({ differences }) => differences.length > 0).length
  const counts: Attributes = { tests: outcomes.length, failures, errors: 0, skipped: 0 }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'preflight policy test', ...counts })}>`,
    `<testsuite${attributes({ name: pack, ...counts })}>`,
    ...outcomes.map((outcome) => caseElement(pack, outcome)),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseElement(pack: string, { description, differences }: CaseResult): string {
  const named = attributes({ classname: pack, name: description })
  if (differences.length === 0) return `<testcase${named}/>`
  const lines = differences.map(({ member, want, got }) => `${member}: want ${want}, got ${got ?? 'none'}`)
  const failure = attributes({ type: 'policy', message: lines[0] ?? '' })
  return `<testcase${named}><failure${failure}>${escaped(lines.join('\n'))}</failure></testcase>`
}
