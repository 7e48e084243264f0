/** What the schema cannot say of the decision log: expressions that cannot be, members that an entry does not have, a sink named twice. */
import { engine } from '../../loading/lazy-engine.ts'
import { mistakeAt } from '../../settings/mistake-collector.ts'
import type { LocatedMistake } from '../../settings/schema-mistakes.ts'
import { ENTRY_FIELDS } from './entry.ts'
import { MASKABLE_FIELDS } from './filters.ts'
import type { DecisionLogSettings, DecisionSink } from './settings.ts'

const ROOT = '/decision_log'

export function checkDecisionLog({
  decision_log: { sinks, mask, drop },
}: {
  readonly decision_log: Pick<DecisionLogSettings, 'sinks' | 'mask' | 'drop'>
}): readonly LocatedMistake[] {
  return [
    ...sinks.flatMap((sink, index) => sinkMistakes(sink, index, sinks)),
    ...drop.flatMap((source, index) => expressionMistakes(source, `${ROOT}/drop/${index}`)),
    ...mask.flatMap(({ fields, when }, index) => [
      ...fields.flatMap((field, place) => fieldMistakes(field, `${ROOT}/mask/${index}/fields/${place}`)),
      ...(when === undefined ? [] : expressionMistakes(when, `${ROOT}/mask/${index}/when`)),
    ]),
  ]
}

function sinkMistakes(sink: DecisionSink, index: number, sinks: readonly DecisionSink[]): readonly LocatedMistake[] {
  const pointer = `${ROOT}/sinks/${index}`
  const first = sinks.findIndex((other) => sinkDestination(other) === sinkDestination(sink))
  return first === index
    ? []
    : [mistakeAt(pointer, `sinks[${first}] writes the same entries to the same place`, 'remove one')]
}

/** One file and one stdout at most: a sink has its name by its kind and its address. */
function sinkDestination(sink: DecisionSink): string {
  if (sink.type === 'file' || sink.type === 'stdout') return sink.type
  if (sink.type === 'syslog') return `syslog ${sink.address}`
  return `${sink.type} ${sink.type === 'http' ? sink.url : sink.endpoint}`
}

function expressionMistakes(source: string, pointer: string): readonly LocatedMistake[] {
  const expression = engine().compileEntryExpression(source, ENTRY_FIELDS)
  if (expression.ok) return []
  return [
    mistakeAt(
      pointer,
      `the expression ${expression.problem}`,
      'e.g. entry.decision == "ALLOW" && entry.route == "search"',
    ),
  ]
}

function fieldMistakes(field: string, pointer: string): readonly LocatedMistake[] {
  if (MASKABLE_FIELDS.includes(field)) return []
  return [
    mistakeAt(pointer, `an entry has no member "${field}" that can be masked`, `use ${MASKABLE_FIELDS.join(', ')}`),
  ]
}
