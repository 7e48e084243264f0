/** A policy pack in a request: as an object or as YAML text. */
import type { Static } from 'typebox'
import { DEFAULT_DOCUMENT_LIMITS, Type } from '../../engine/base.ts'
import type { CompiledPolicy } from '../../engine/internal.ts'
import { placedMessage } from '../errors/mistake.ts'
import { GatewayError } from '../errors/errors.ts'
import { objectsIn, recordIn, textIn } from '../json/unchecked-json.ts'
import { engine } from '../loading/lazy-engine.ts'
import { sha256Hex } from '../runtime/hash.ts'

const LONGEST_POLICY = 256 * 1024
/** Letters of all conditions together. To read them holds everybody else up. */
const LONGEST_CONDITIONS = 64 * 1024

export const PolicySource = Type.Union(
  [Type.Record(Type.String(), Type.Unknown()), Type.String({ maxLength: LONGEST_POLICY })],
  { description: 'A policy pack (see /schemas/policy.json), or its YAML text.' },
)

/** @throws GatewayError INVALID_INPUT with every mistake of the policy. */
export function policyOf(source: Static<typeof PolicySource>): CompiledPolicy {
  const read =
    typeof source === 'string'
      ? engine().readDocument(source, { ...DEFAULT_DOCUMENT_LIMITS, maxLength: LONGEST_POLICY })
      : null
  if (read?.ok === false) {
    const details = [{ pointer: '/policy', message: placedMessage({ ...read.problem, pointer: '' }) }]
    throw new GatewayError('INVALID_INPUT', undefined, { details })
  }
  const document: unknown = read === null ? source : read.value.root
  const excess = whyTooLong(source, document)
  if (excess !== null)
    throw new GatewayError('INVALID_INPUT', undefined, { details: [{ pointer: '/policy', message: excess }] })
  const compiled = engine().compilePolicy(document, sha256Hex)
  if (compiled.ok) return compiled.value
  const details = compiled.problem
    .slice(0, 50)
    .map(({ pointer = '', message }) => ({ pointer: `/policy${pointer}`, message }))
  throw new GatewayError('INVALID_INPUT', 'The policy is not valid.', { details })
}

/** Null: it is as short as a policy in a request has to be. One of a file may be longer. */
function whyTooLong(source: Static<typeof PolicySource>, document: unknown): string | null {
  if (typeof source === 'object' && JSON.stringify(source).length > LONGEST_POLICY)
    return `is longer than ${LONGEST_POLICY} characters`
  const conditions = objectsIn(recordIn(document)['rules']).map((rule) => textIn(rule['when'])?.length ?? 0)
  return conditions.reduce((sum, length) => sum + length, 0) > LONGEST_CONDITIONS
    ? `has conditions of more than ${LONGEST_CONDITIONS} characters in all`
    : null
}
