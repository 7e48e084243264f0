/** Options of any declaration: `deprecated` and custom ones. HTTP bindings are compared elsewhere. */
import { isKnownFeature } from '../../contracts/protobuf/features.ts'
import type { Declared } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../model/finding.ts'
import { isEqual } from '../../schema/equality.ts'
import { optionRule, statedOptions } from './call-options.ts'
import type { ProtoWalk } from './walk.ts'

export const HTTP_OPTION = '(google.api.http)'

/** `(google.api.http)`, set as a whole or member by member. */
function isHttpOption(option: string): boolean {
  return option === HTTP_OPTION || option.startsWith(`${HTTP_OPTION}.`)
}

interface OptionHolder {
  /** Options that are compared elsewhere. */
  readonly judged?: ReadonlySet<string>
  /** The rpcs that a change reaches. */
  readonly reaches: string | readonly Operation[]
}

export function compareCommonOptions(
  before: Declared,
  after: Declared,
  { judged, reaches }: OptionHolder,
  walk: ProtoWalk,
): void {
  const place = { side: 'head', location: after.at, name: after.name, reaches } as const
  if (before.options.get('deprecated') !== true && after.options.get('deprecated') === true) {
    walk.add({ ...place, rule: 'proto-deprecated', subject: `${after.fullName} deprecated`, after: true })
  }
  const [baseOptions, headOptions] = [statedOptions(before), statedOptions(after)]
  for (const option of new Set([...baseOptions.keys(), ...headOptions.keys()])) {
    const isJudged = judged?.has(option) === true || isHttpOption(option)
    if (option === 'deprecated' || isKnownFeature(option) || isJudged) continue
    const base = baseOptions.get(option) ?? null
    const head = headOptions.get(option) ?? null
    if (isEqual(base, head)) continue
    const stated = (value: unknown): unknown => (value === null ? null : { [option]: value })
    const rule = optionRule({ option, base: baseOptions, head: headOptions }, walk.directions(reaches))
    walk.add({ ...place, rule, subject: `${after.fullName} ${option}`, before: stated(base), after: stated(head) })
  }
}
