/** Options of any declaration: `deprecated` and custom ones. HTTP bindings are compared elsewhere. */
import type { Declared } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../model/finding.ts'
import { isEqual } from '../../schema/equality.ts'
import type { ProtoWalk } from './walk.ts'

export const HTTP_OPTION = '(google.api.http)'

/** `(google.api.http)`, set as a whole or member by member. */
function isHttpOption(option: string): boolean {
  return option === HTTP_OPTION || option.startsWith(`${HTTP_OPTION}.`)
}

/**
 * Custom options by which servers accept and answer calls. Validation is that of protovalidate or its predecessor.
 * google/api states fields, visibility, scopes and addresses; google/longrunning the result of an operation.
 */
const CALLER_OPTIONS =
  /^\(\.?(?:(?:buf\.)?validate\.|google\.api\.(?:field_behavior|field_info|\w+_visibility|oauth_scopes|default_host)\)|google\.longrunning\.operation_info\))/

export function compareCommonOptions(
  before: Declared,
  after: Declared,
  walk: ProtoWalk,
  judged: ReadonlySet<string>,
  reaches: string | readonly Operation[],
): void {
  const place = { side: 'head', location: after.at, name: after.name, reaches } as const
  if (before.options.get('deprecated') !== true && after.options.get('deprecated') === true) {
    walk.add({ ...place, rule: 'proto-deprecated', subject: `${after.fullName} deprecated`, after: true })
  }
  for (const option of new Set([...before.options.keys(), ...after.options.keys()])) {
    const isJudged = judged.has(option) || isHttpOption(option)
    if (option === 'deprecated' || option.startsWith('features') || isJudged) continue
    const base = statedOption(before, option)
    const head = statedOption(after, option)
    if (isEqual(base, head)) continue
    const values = { before: { [option]: base }, after: { [option]: head } }
    const rule = CALLER_OPTIONS.test(option) ? 'proto-caller-option-changed' : 'proto-option-changed'
    walk.add({ ...place, rule, subject: `${after.fullName} ${option}`, ...values })
  }
}

/**
 * Flags of descriptor.proto for messages, fields and rpcs are false by default. The defaults of other options are
 * unknown.
 */
function statedOption({ options }: Declared, option: string): unknown {
  const value = options.get(option) ?? null
  return value === false && !option.startsWith('(') ? null : value
}
