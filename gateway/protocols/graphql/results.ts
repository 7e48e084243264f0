/**
 * Reads the outcome of the execution from a GraphQL answer, which has a 2xx status although operations may have failed.
 * Changes nothing.
 */
import { BytePieces } from '../../runtime/byte-pieces.ts'
import type { AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { isJsonType } from '../../network/json-type.ts'

/** Maximum length of an answer that is read for its errors. */
const MAX_BYTES = 8 * 1024 * 1024

/**
 * @param resources the judged resource of each operation of a batch, null where there is none; null: the request is not
 * a batch
 */
export function watchResults(resources: readonly (JudgedResource | null)[] | null): AnswerWatcher {
  let pieces: BytePieces | null = null
  let size = 0
  let results: readonly unknown[] | null = null
  const watcher = {
    get hasFailed(): boolean {
      return results !== null && results.some(hasErrors)
    },
    // Of a stream or of parts (`@defer`) nothing is read, and a client chooses between those and JSON.
    get isUntold(): boolean {
      return results === null
    },
    head(_status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void {
      if (isJsonType(String(headers['content-type'] ?? ''))) pieces = new BytePieces()
    },
    chunk(bytes: Buffer): void {
      size += bytes.length
      if (size > MAX_BYTES) pieces = null
      pieces?.add(bytes)
    },
    end(): void {
      const json = pieces === null ? null : readStrictJson(pieces.whole())
      if (json?.ok === true) results = Array.isArray(json.value) ? json.value : [json.value]
    },
  }
  if (resources === null) return watcher
  return Object.assign(watcher, {
    outcomeOf(resource: JudgedResource) {
      const own = (results ?? []).filter((_, index) => resources[index]?.target === resource.target)
      if (own.length === 0) return null
      return own.some(hasErrors) ? 'FAILED' : 'SUCCEEDED'
    },
  })
}

/** A result with errors may contain a part of the data; the operation counts as failed. */
function hasErrors(result: unknown): boolean {
  return isJsonObject(result) && Array.isArray(result['errors']) && result['errors'].length > 0
}
