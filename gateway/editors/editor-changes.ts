/**
 * What putting the servers of all editors behind `preflight mcp` changes, or taking them back. The text of each file before
 * the change is kept, so that it can be restored byte by byte.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  rmSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  realpathSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../errors/startup-error.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { textIn } from '../json/unchecked-json.ts'
import { makeTemporaryFile, readRegularFile, readTextFile } from '../runtime/regular-file.ts'
import { makePrivateDirectory, writePrivateFile } from '../runtime/private-file.ts'
import type { EditorFile } from './places.ts'
import { unwrapped, wrapped, type Invocation, type Wrapping, type ServerCommand } from '../stdio/wrapping.ts'
import { readCommentedJson, withJsonCommand } from './json-text.ts'
import { readToml, withTomlCommand } from './toml-text.ts'

interface ServerChange {
  readonly name: string
  readonly wrapping: Wrapping
}

export interface EditorFileChange {
  readonly place: EditorFile
  readonly before: string
  /** Equal to `before`: nothing changes. */
  readonly after: string
  readonly servers: readonly ServerChange[]
  /** Null: the file was read. */
  readonly fault: string | null
}

/** Those of the files that exist. */
export function planWrapping(places: readonly EditorFile[], preflight: Invocation): readonly EditorFileChange[] {
  return existing(places).map((place) => changedFile(place, ({ name, entry }) => wrapped(name, entry, preflight)))
}

/** @param kept folder of the texts before the change */
export function planUndo(places: readonly EditorFile[], kept: string): readonly EditorFileChange[] {
  return existing(places).map((place) => {
    const change = changedFile(place, ({ entry }) => unwrapped(entry))
    const original = keptText(place.file, change.before, kept)
    return original === null ? change : { ...change, after: original }
  })
}

/** Writes the files that change. */
export function applyChanges(changes: readonly EditorFileChange[], kept: string, isUndo: boolean): void {
  for (const { place, before, after } of changes) {
    if (before === after) continue
    if (isUndo) rmSync(keptFile(place.file, kept), { force: true })
    else keep(place.file, before, after, kept)
    replaceEditorFile(place.file, after)
  }
}

function existing(places: readonly EditorFile[]): readonly EditorFile[] {
  return places.filter(({ file }) => existsSync(file))
}

function changedFile(place: EditorFile, wrappingOf: (server: ConfiguredServer) => Wrapping): EditorFileChange {
  let before = ''
  try {
    // Other bytes would not be written back as they were.
    before = readTextFile(place.file)
    let after = before
    const servers: ServerChange[] = []
    for (const server of serversIn(before, place)) {
      const wrapping = wrappingOf(server)
      if (wrapping.kind === 'change') after = withCommand(after, place, server.path, wrapping.value)
      servers.push({ name: server.name, wrapping })
    }
    return { place, before, after, servers, fault: null }
  } catch (error) {
    return { place, before, after: before, servers: [], fault: messageOf(error) }
  }
}

function keptFile(file: string, kept: string): string {
  return join(kept, `${createHash('sha256').update(file).digest('hex').slice(0, 16)}.json`)
}

/** A file that was changed before keeps its first text. */
function keep(file: string, before: string, after: string, kept: string): void {
  makePrivateDirectory(kept)
  const original = keptText(file, before, kept) ?? before
  writePrivateFile(keptFile(file, kept), JSON.stringify({ file, original, written: after }))
}

/** The text before the change; null: the file has another text than was written then. */
function keptText(file: string, text: string, kept: string): string | null {
  try {
    const value: unknown = JSON.parse(readRegularFile(keptFile(file, kept), 'utf8'))
    if (!isJsonObject(value) || value['written'] !== text) return null
    return textIn(value['original'])
  } catch {
    return null
  }
}

/** Replaces a file of somebody else's: whole or not at all, with its mode, and through a symbolic link. */
function replaceEditorFile(file: string, text: string): void {
  const target = realpathSync(file)
  const temporary = `${target}.preflight-${process.pid}`
  const descriptor = makeTemporaryFile(temporary)
  try {
    fchmodSync(descriptor, statSync(target).mode & 0o777)
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, target)
}

interface ConfiguredServer {
  readonly name: string
  readonly path: readonly string[]
  readonly entry: unknown
}

/** Throws an Error when the text cannot be read. */
function serversIn(
  text: string,
  { format, servers }: Pick<EditorFile, 'format' | 'servers'>,
): readonly ConfiguredServer[] {
  const value = format === 'toml' ? readToml(text) : readCommentedJson(text)
  return servers.flatMap((path) => configuredServersAt(value, path, []))
}

function configuredServersAt(
  value: unknown,
  path: readonly string[],
  taken: readonly string[],
): readonly ConfiguredServer[] {
  if (!isJsonObject(value)) return []
  const [next, ...rest] = path
  if (next === undefined) return Object.entries(value).map(([name, entry]) => ({ name, path: [...taken, name], entry }))
  const members = next === '*' ? Object.keys(value) : Object.hasOwn(value, next) ? [next] : []
  return members.flatMap((member) => configuredServersAt(value[member], rest, [...taken, member]))
}

/** Throws an Error when the file has a form that cannot be edited. */
function withCommand(
  text: string,
  { format }: Pick<EditorFile, 'format'>,
  path: readonly string[],
  command: ServerCommand,
): string {
  return format === 'toml' ? withTomlCommand(text, path, command) : withJsonCommand(text, path, command)
}
