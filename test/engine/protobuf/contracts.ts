/** Comparisons of protobuf contracts for tests, and sets of files from folders. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare, type Comparison, type CompareOptions } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

export function comparedProtobuf(before: string, after: string, options: CompareOptions = {}): Comparison {
  const result = compare({ id: 'proto', type: 'protobuf', before, after }, options, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

/** All .proto files below a folder as the artifact’s JSON object of path → text. */
export function readProtoSet(folder: string): string {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.proto'))
  return JSON.stringify(
    Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')])),
  )
}
