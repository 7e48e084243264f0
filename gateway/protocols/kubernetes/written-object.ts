/**
 * Compares the object that the API server has written with the judged one. A patch is applied to the current object, so
 * only the answer shows whether somebody else wrote in between.
 */
import { gunzipSync } from 'node:zlib'
import { BytePieces } from '../../runtime/byte-pieces.ts'
import type { AnswerWatcher } from '../../calls/answer.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { authoredText, type KubernetesObject } from './change.ts'

/** `unchecked`: the answer is not an object in JSON, or is too long. */
export type WriteResult = 'as_judged' | 'differs' | 'unchecked'

const MAX_BYTES = 4 * 1024 * 1024

/**
 * @param judged the answer to the dry run
 * @param onResult called once, for successful answers only
 */
export function watchWrittenObject(judged: KubernetesObject, onResult: (result: WriteResult) => void): AnswerWatcher {
  const expected = authoredText(judged)
  const pieces = new BytePieces()
  let size = 0
  let isSuccess = false
  let encoding = ''
  return {
    hasFailed: false,
    head(status, headers) {
      isSuccess = status >= 200 && status < 300
      encoding = String(headers['content-encoding'] ?? 'identity')
    },
    chunk(bytes) {
      size += bytes.length
      if (isSuccess && size <= MAX_BYTES) pieces.add(bytes)
    },
    end() {
      if (!isSuccess) return
      const written = size <= MAX_BYTES ? objectOf(pieces.whole(), encoding) : null
      if (written === null || written['kind'] !== judged['kind']) onResult('unchecked')
      else onResult(authoredText(written) === expected ? 'as_judged' : 'differs')
    },
  }
}

function objectOf(bytes: Buffer, encoding: string): KubernetesObject | null {
  try {
    const plain = encoding === 'gzip' ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes
    const json = readStrictJson(plain)
    return json.ok && isJsonObject(json.value) ? json.value : null
  } catch {
    // It is not gzip, or too long: nothing is claimed about the object then.
    return null
  }
}
