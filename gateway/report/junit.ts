/** Comparisons, test cases of a policy pack and replayed decisions as JUnit XML, for the test tab of a CI server. */
import { LEVELS, type Level } from '../../engine/internal.ts'
import { annotationOf, detailLines, titleText, type ReportContext } from './annotation.ts'
import { incompleteLine, type ReportGroup } from './diff-report.ts'
import { printable, attributes, xmlText, type XmlAttributes } from './printable.ts'

export function renderJUnit(context: ReportContext): string {
  const { report, documents, ignored, failOn } = context
  const cases = [
    ...report.groups.map((group) => changeCase(group, context)),
    ...ignored.map(({ group, reason }) =>
      testCase(group, documents, [`<skipped${attributes({ message: `ignored: ${reason}` })}/>`]),
    ),
  ]
  const incomplete = incompleteLine(report)
  if (incomplete !== null) {
    const named = attributes({ classname: 'preflight', name: 'the comparison is complete' })
    cases.push(
      `<testcase${named}><error${attributes({ type: 'incomplete', message: printable(incomplete) })}/></testcase>`,
    )
  }
  // A suite without a case is shown as an error by some servers; that nothing was found is a test that passed.
  if (cases.length === 0) {
    cases.push(`<testcase${attributes({ classname: 'preflight', name: 'no change of meaning was found' })}/>`)
  }
  const counts: XmlAttributes = {
    tests: cases.length,
    failures: report.groups.filter(({ level }) => fails(level, failOn)).length,
    errors: incomplete === null ? 0 : 1,
    skipped: ignored.length,
  }
  const name = `${documents.base.name} → ${documents.head.name}`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'preflight diff', ...counts })}>`,
    `<testsuite${attributes({ name, ...counts })}>`,
    ...cases,
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function fails(level: Level, failOn: Level | null): boolean {
  return failOn !== null && LEVELS.indexOf(level) <= LEVELS.indexOf(failOn)
}

function changeCase(group: ReportGroup, { documents, failOn }: ReportContext): string {
  const text = xmlText(detailLines(group, documents).join('\n'))
  const outcome = fails(group.level, failOn)
    ? `<failure${attributes({ type: group.level, message: titleText(group) })}>${text}</failure>`
    : `<system-out>${xmlText(group.level)}\n${text}</system-out>`
  return testCase(group, documents, [outcome])
}

/** The group's id keeps two cases apart whose words are the same. */
function testCase(group: ReportGroup, documents: ReportContext['documents'], inside: readonly string[]): string {
  const place = annotationOf(group, documents)
  const named = attributes({
    classname: group.rule,
    name: `${titleText(group)} [${group.id.slice(-16)}]`,
    ...(place === null ? {} : { file: place.path }),
    ...(place?.position ? { line: place.position.line } : {}),
  })
  return `<testcase${named}>${inside.join('')}</testcase>`
}

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
  return `<testcase${named}><failure${failure}>${xmlText(lines.join('\n'))}</failure></testcase>`
}
