/**
 * Reads a protobuf contract: one .proto text, or a set of files as a JSON object of path → text. Names are resolved to
 * declarations. Types of an imported file that is not in the set are opaque: known by name only.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isRecord } from '../../schema/located.ts'
import { fail, ok, type Result } from '../../common/result.ts'
import { readDocument } from '../document.ts'
import type { DocumentLimits } from '../../model/limits.ts'
import { appendPointer } from '../../common/json-pointer.ts'
import type { Locate } from '../positions.ts'
import { unreadable } from '../unreadable.ts'
import { readProtoFile, type FileSource, type ReadProtoFile } from './file.ts'
import {
  SCALARS,
  type Declared,
  type ProtoEnum,
  type ProtoField,
  type ProtoFile,
  type ProtoMessage,
  type ProtoService,
} from './model.ts'
import { outerOf } from './names.ts'
import { isWellKnownFile, wellKnownKind } from './well-known.ts'

export interface ProtoContract {
  readonly files: ReadonlyMap<string, ProtoFile>
  /** By full name, in all files. */
  readonly messages: ReadonlyMap<string, ProtoMessage>
  readonly enums: ReadonlyMap<string, ProtoEnum>
  readonly services: ReadonlyMap<string, ProtoService>
  /** By `message#number`. */
  readonly extensions: ReadonlyMap<string, ProtoField>
  readonly packages: ReadonlySet<string>
  readonly fileOf: (at: string) => ProtoFile | undefined
  readonly typeOf: (written: string, scope: string) => ProtoType
  readonly locate: Locate
}

/** What a written type refers to. */
export type ProtoType =
  | { readonly kind: 'scalar'; readonly name: string }
  | { readonly kind: 'message'; readonly name: string }
  | { readonly kind: 'enum'; readonly name: string }
  /** A name that is not declared in the contract. */
  | { readonly kind: 'opaque'; readonly name: string }

/** The contract that does not exist. */
export const NO_CONTRACT: ProtoContract = contractOf([])

/** Reads an artifact’s text in either form. */
export function readProtoContract(text: string, limits: DocumentLimits): Result<ProtoContract> {
  const sources = /^\uFEFF?\s*\{/.test(text) ? readSet(text, limits) : ok([{ path: '', at: '', text }])
  if (!sources.ok) return sources
  const files: ReadProtoFile[] = []
  for (const source of sources.value) {
    const read = readProtoFile(source, limits)
    if (!read.ok) return read
    files.push(read.value)
  }
  const twice = firstDeclaredTwice(files)
  return twice === null ? ok(contractOf(files)) : twice
}

/** The suffix of paths in a set. Imports name files by path. */
const PROTO_PATH = /\.proto$/

export function isProtoSet(root: unknown): boolean {
  if (!isRecord(root)) return false
  const members = Object.entries(root)
  return members.length > 0 && members.every(([path, text]) => PROTO_PATH.test(path) && typeof text === 'string')
}

function readSet(text: string, limits: DocumentLimits): Result<readonly FileSource[]> {
  const document = readDocument(text, limits)
  if (!document.ok) return document
  const { root, locate } = document.value
  if (!isRecord(root)) return fail(unreadable('as protobuf: it is not an object of path → text'))
  const sources: FileSource[] = []
  for (const [path, member] of Object.entries(root)) {
    const at = appendPointer('', path)
    if (!PROTO_PATH.test(path) || typeof member !== 'string') {
      const what =
        'as a set of protobuf files: each member is the text of a file under its path, which ends with .proto'
      return fail(unreadable(what, { pointer: at, position: locate(at) }))
    }
    sources.push({ path, at, text: member })
  }
  if (sources.length === 0) return fail(unreadable('as a set of protobuf files: it holds none'))
  // Sorted, so that the place of a finding does not depend on the order of files.
  return ok(sources.sort((a, b) => byCodeUnit(a.path, b.path)))
}

function declarationsOf({ messages, enums, services, extensions }: ProtoFile): readonly Declared[] {
  return [...messages, ...enums, ...services, ...extensions]
}

/** Two files that declare one name are ambiguous. */
function firstDeclaredTwice(files: readonly ReadProtoFile[]): Result<never> | null {
  const known = new Map<string, ProtoFile>()
  for (const { file, locate } of files) {
    for (const { fullName, at } of declarationsOf(file)) {
      const other = known.get(fullName)
      if (other !== undefined) {
        const what = `as protobuf: ${fullName} is declared in ${other.path} and again in ${file.path}`
        return fail(unreadable(what, { pointer: at, position: locate(at) }))
      }
      known.set(fullName, file)
    }
  }
  return null
}

function contractOf(read: readonly ReadProtoFile[]): ProtoContract {
  const files = new Map(read.map(({ file }) => [file.path, file] as const))
  const messages = new Map<string, ProtoMessage>()
  const enums = new Map<string, ProtoEnum>()
  const services = new Map<string, ProtoService>()
  const declared: ProtoField[] = []
  const collect = ({ messages: list, enums: own, extensions }: ProtoFile | ProtoMessage): void => {
    for (const item of own) enums.set(item.fullName, item)
    for (const extension of extensions) declared.push(extension)
    for (const message of list) {
      messages.set(message.fullName, message)
      collect(message)
    }
  }
  for (const file of files.values()) {
    collect(file)
    for (const service of file.services) services.set(service.fullName, service)
  }
  const typeOf = typeLookup(messages, enums)
  const fileAt = new Map(read.map((one) => [one.file.at, one] as const))
  const readAt = (at: string): ReadProtoFile | undefined => fileAt.get('') ?? fileAt.get(/^\/[^/]*/.exec(at)?.[0] ?? '')
  return {
    files,
    messages,
    enums,
    services,
    extensions: new Map(
      declared.map((field) => [`${typeOf(field.extendee ?? '', field.scope).name}#${field.number}`, field]),
    ),
    packages: new Set([...files.values()].map((file) => file.package)),
    fileOf: (at) => readAt(at)?.file,
    typeOf,
    locate: (pointer) => readAt(pointer)?.locate(pointer) ?? null,
  }
}

/** The innermost scope comes first, as in the language. A leading dot starts at the top. */
function typeLookup(
  messages: ReadonlyMap<string, ProtoMessage>,
  enums: ReadonlyMap<string, ProtoEnum>,
): ProtoContract['typeOf'] {
  const kindOf = (name: string): 'message' | 'enum' | null => {
    if (messages.has(name)) return 'message'
    return enums.has(name) ? 'enum' : wellKnownKind(name)
  }
  return (written, scope) => {
    if (SCALARS.has(written)) return { kind: 'scalar', name: written }
    const isAbsolute = written.startsWith('.')
    const bare = isAbsolute ? written.slice(1) : written
    for (let around = isAbsolute ? '' : scope; around !== ''; around = outerOf(around)) {
      const name = `${around}.${bare}`
      const kind = kindOf(name)
      if (kind !== null) return { kind, name }
    }
    const kind = kindOf(bare)
    return { kind: kind ?? 'opaque', name: bare }
  }
}

/** Imports that are neither in the set nor supplied by the compiler. */
export function missingImports({
  files,
}: ProtoContract): readonly { readonly file: ProtoFile; readonly path: string }[] {
  return [...files.values()].flatMap((file) =>
    file.imports.filter((path) => !files.has(path) && !isWellKnownFile(path)).map((path) => ({ file, path })),
  )
}
