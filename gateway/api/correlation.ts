/** The correlation id of a request (docs/reference/api.md#conventions): the caller's when it has the right form, else a new one. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { ID_PATTERN } from './schemas/shapes.ts'

const GRAMMAR = new RegExp(ID_PATTERN)

export function correlationIdOf(request: IncomingMessage): string {
  const given = request.headers['x-correlation-id']
  return typeof given === 'string' && GRAMMAR.test(given) ? given : randomUUID()
}
