/** A comparison as SARIF 2.1.0 (OASIS), for code scanning: one result a change, ignored ones as suppressed results. */
import { LEVELS, ruleOf, type Level } from '../../engine/internal.ts'
import { annotationOf, reachedNames, type ReportContext } from './annotation.ts'
import { incompleteLine, type ReportGroup } from './diff-report.ts'
import { printable } from './printable.ts'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** SARIF 2.1.0 §3.27.10. */
const RESULT_LEVELS = { breaking: 'error', dangerous: 'warning', info: 'note' } as const satisfies Record<Level, string>

export function renderSarif(context: ReportContext): string {
  return `${JSON.stringify(sarifLog(context), null, 2)}\n`
}

function sarifLog({ report, documents, ignored, version }: ReportContext): object {
  const properties = [
    ...report.groups.map((group) => ({ group, reason: null })),
    ...ignored.map(({ group, reason }) => ({ group, reason })),
  ]
  const rules = [...new Map(properties.map(({ group }) => [group.rule, group])).values()]
  const incomplete = incompleteLine(report)
  const indices = new Map(rules.map(({ rule }, index) => [rule, index]))
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Preflight Gateway', semanticVersion: version, rules: rules.map(descriptorOf) } },
        columnKind: 'utf16CodeUnits',
        ...(incomplete !== null && {
          invocations: [
            {
              executionSuccessful: false,
              toolExecutionNotifications: [{ level: 'error', message: { text: printable(incomplete) } }],
            },
          ],
        }),
        results: properties.map(({ group, reason }) => ({
          ...sarifResult(group, documents, indices.get(group.rule) ?? -1),
          ...(reason === null ? {} : { suppressions: [{ kind: 'external', justification: printable(reason) }] }),
        })),
      },
    ],
  }
}

/** A rule in its own words; the level is its own too, where a finding's may have been overridden. */
function descriptorOf({ rule: id, level, direction, explanation, fix }: ReportGroup): object {
  const rule = ruleOf(id)
  return {
    id,
    shortDescription: { text: printable(rule?.description ?? id) },
    fullDescription: { text: printable(explanation) },
    help: { text: printable(fix) },
    defaultConfiguration: { level: RESULT_LEVELS[rule?.level ?? level] },
    properties: { tags: ['contract', ...(direction === 'none' ? [] : [direction])] },
  }
}

function sarifResult(group: ReportGroup, documents: ReportContext['documents'], ruleIndex: number): object {
  const place = annotationOf(group, documents)
  const reached = reachedNames(group)
  return {
    ruleId: group.rule,
    ruleIndex,
    level: RESULT_LEVELS[group.level],
    message: { text: messageText(group, reached) },
    locations: [
      {
        ...(place === null
          ? {}
          : {
              physicalLocation: {
                artifactLocation: { uri: uriOf(place.path) },
                ...(place.position === null
                  ? {}
                  : { region: { startLine: place.position.line, startColumn: place.position.column } }),
              },
            }),
        logicalLocations: [{ fullyQualifiedName: printable(group.location || '/'), kind: 'member' }],
      },
    ],
    // Stable over unrelated edits and reordering, so that one change stays one alert.
    partialFingerprints: { 'preflightGroup/v1': group.id },
    properties: { level: group.level, side: group.side, reaches: reached, count: group.count },
  }
}

const REACHED_SHOWN = 5

function messageText({ message, level, fix }: ReportGroup, reached: readonly string[]): string {
  const rest = reached.length - REACHED_SHOWN
  const shown = reached.slice(0, REACHED_SHOWN).join(', ')
  return [
    `${printable(message)}.`,
    ...(reached.length === 0 ? [] : [`Reaches ${shown}${rest > 0 ? ` and ${rest} more` : ''}.`]),
    ...(level === LEVELS[2] ? [] : [printable(fix)]),
  ].join(' ')
}

/** A relative reference (RFC 3986 §4.2): a colon in its first segment would be a scheme. */
function uriOf(path: string): string {
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  return path.startsWith('/') ? `file://${encoded}` : encoded
}
