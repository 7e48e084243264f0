/**
 * Checks structured results of tools against the pinned outputSchema (`validate`). The answer is already forwarded by
 * then: a violation is counted and logged, and nothing is changed or withheld.
 */
import { LRUCache } from 'lru-cache'
import { contractDigest, type BaselineText } from '../../baselines/baselines.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Violation } from '../../validation/message.ts'
import type { Validator } from '../../validation/validator.ts'
import type { Call } from '../../calls/call.ts'
import type { ContractChecks, Under } from '../common/contract-checks.ts'
import { itemIn } from './manifest-text.ts'
import { isJsonObject } from '../../json/strict-json.ts'

export interface McpResults {
  /** Never throws. */
  check(result: McpToolResult, under: Under): void
}

interface McpToolResult {
  readonly call: Call
  readonly tool: string
  readonly result: unknown
  /** The manifest that the call was judged by. */
  readonly pinned: BaselineText
}

interface McpResultsDeps {
  readonly validator: Pick<Validator, 'check'>
  readonly checks: ContractChecks
  readonly logger: Logger
}

const MAX_SCHEMAS = 500

export function createMcpResults({ validator, checks, logger }: McpResultsDeps): McpResults {
  const schemas = new LRUCache<string, BaselineText>({ max: MAX_SCHEMAS })
  const schemaOf = (tool: string, pinned: BaselineText): BaselineText | null => {
    const key = `${pinned.digest} ${tool}`
    const known = schemas.get(key)
    if (known !== undefined) return known
    const schema = itemIn('tools', tool, pinned)?.['outputSchema']
    if (!isJsonObject(schema)) return null
    const made = answerContract(schema)
    schemas.set(key, made)
    return made
  }
  return {
    check({ call, tool, result, pinned }, under) {
      const schema = schemaOf(tool, pinned)
      if (schema === null || !isComplete(result)) return
      const { name: route } = call.route
      const drifted = (violations: readonly Violation[]): void =>
        checks.drifted({ call, operation: `tools/call ${tool}`, contract: schema.digest, violations }, under)
      const content = result['structuredContent']
      if (content === undefined) {
        checks.count(route, 'answer', 'violates')
        drifted([{ where: 'structuredContent', message: 'is missing' }])
        return
      }
      const body = Buffer.from(JSON.stringify(content))
      const message = { side: 'answer', method: 'POST', target: '/', status: 200, headers: JSON_TYPE, body } as const
      void validator
        .check(schema, message)
        .then((conformance) => {
          checks.count(route, 'answer', conformance.result)
          return conformance.result === 'violates' ? drifted(conformance.violations) : undefined
        })
        .catch((error: unknown) => {
          checks.count(route, 'answer', 'failed')
          logger.debug(
            { event: 'contract.check_failed', err: error, correlation_id: call.correlationId },
            'result could not be checked against its schema',
          )
        })
    },
  }
}

const JSON_TYPE = { 'content-type': 'application/json' } as const

/** Errors promise nothing. */
function isComplete(result: unknown): result is Readonly<Record<string, unknown>> {
  return isJsonObject(result) && result['isError'] !== true && isFinal(result)
}

/**
 * False for what comes in place of the result: a task that was begun (2025-11-25: CreateTaskResult), a question for more
 * input (2026-07-28: resultType).
 */
export function isFinal(result: Readonly<Record<string, unknown>>): boolean {
  const { resultType = 'complete', task, content } = result
  return resultType === 'complete' && !(isJsonObject(task) && content === undefined)
}

/** Where the schema stands in the document around it. */
const PLACE = '#/paths/~1/post/responses/200/content/application~1json/schema'

/** The schema as the answer of an API, which is what the checking thread reads. */
function answerContract(schema: Readonly<Record<string, unknown>>): BaselineText {
  const { $id: _, ...members } = schema
  const answer = { description: 'The result.', content: { 'application/json': { schema: embedded(members) } } }
  const content = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'result', version: '1' },
    paths: { '/': { post: { responses: { '200': answer } } } },
  })
  return { content, digest: contractDigest(content) }
}

/** References into the schema itself lead to its new place. Depth is bounded by reading. */
function embedded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(embedded)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isOwn = name === '$ref' && typeof member === 'string' && /^#(?:\/|$)/.test(member)
      return [name, isOwn ? `${PLACE}${member.slice(1)}` : embedded(member)]
    }),
  )
}
