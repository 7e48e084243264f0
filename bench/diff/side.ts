/** One side of a pair as the engine takes it, and what merely reading it means in its language. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseGraphql } from 'graphql'
import { CORE_SCHEMA, loadAll, YAMLException } from 'js-yaml'
import { parse as parseProto } from 'protobufjs'
import { parseAllDocuments } from 'yaml'
import type { ArtifactType } from '../../engine/internal.ts'

/** The text of a file; of a folder its .proto files as an object of path → text. */
export function readSide(path: string): string {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8')
  return JSON.stringify(
    Object.fromEntries(protoFiles(path).map((file) => [file, readFileSync(join(path, file), 'utf8')])),
  )
}

export function bytesOf(path: string): number {
  if (!statSync(path).isDirectory()) return statSync(path).size
  return protoFiles(path).reduce((sum, file) => sum + statSync(join(path, file)).size, 0)
}

function protoFiles(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.proto')).sort()
}

/** Parses a text with a common parser of its language, and does nothing with it. */
export function parseSide(type: ArtifactType, text: string): void {
  if (type === 'graphql') parseGraphql(text)
  else if (type === 'protobuf') for (const file of protoTexts(text)) parseProto(file)
  else if (/^\s*[[{]/.test(text) && type !== 'k8s_crd') JSON.parse(text)
  else parseYaml(text)
}

function protoTexts(set: string): readonly string[] {
  const files: unknown = JSON.parse(set)
  return Object.values(Object(files)).map(String)
}

/** Some real documents break the layout rules that js-yaml holds to; the slower reader takes them. */
function parseYaml(text: string): void {
  try {
    loadAll(text, { schema: CORE_SCHEMA })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    for (const document of parseAllDocuments(text, { logLevel: 'silent' })) document.toJS()
  }
}
