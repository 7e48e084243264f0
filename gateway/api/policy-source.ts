/** A policy pack in a request: as an object or as YAML text. */
import type { Static } from 'typebox'
import { DEFAULT_DOCUMENT_LIMITS, Type } from '../../engine/base.ts'
import type { CompiledPolicy } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import { engine } from '../loading/lazy-engine.ts'
import { sha256Hex } from '../runtime/hash.ts'

const LONGEST_POLICY = 1024 * 1024

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
    const { message, line, column } = read.problem
    const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`
    throw new GatewayError('INVALID_INPUT', undefined, { details: [{ pointer: '/policy', message: message + place }] })
  }
  const compiled = engine().compilePolicy(read === null ? source : read.value.root, sha256Hex)
  if (compiled.ok) return compiled.value
  const details = compiled.problem
    .slice(0, 50)
    .map(({ pointer = '', message }) => ({ pointer: `/policy${pointer}`, message }))
  throw new GatewayError('INVALID_INPUT', 'The policy is not valid.', { details })
}
