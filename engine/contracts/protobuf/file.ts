/** Reads one .proto text into declarations with their places. Type names are kept as written. */
import { fail, ok, type Result } from '../../common/result.ts'
import type { DocumentLimits } from '../../model/limits.ts'
import { positions, type Position } from '../positions.ts'
import { overLimit } from '../unreadable.ts'
import { readDeclaration, readService, type Declarations } from './declarations.ts'
import { defaultFeatures, EDITIONS, FeatureScope, SYNTAXES } from './features.ts'
import type { ProtoFile, ProtoService } from './model.ts'
import { OptionSet } from './options.ts'
import { Scope } from './scope.ts'
import { Cursor, ReadFault } from './tokens.ts'

export interface ReadProtoFile {
  readonly file: ProtoFile
  /** The position of the declaration at a pointer, or of its nearest enclosing one. */
  readonly locate: (pointer: string) => Position
}

/** Whether a text starts as only .proto files do, after comments and empty lines. */
export function startsLikeProto(text: string): boolean {
  return PROTO_START.test(text.slice(0, OPENING).replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, ' '))
}

const OPENING = 16_384
const PROTO_START =
  /^\uFEFF?\s*(?:(?:syntax|edition)\s*=\s*["']|package\s+[\w.]+\s*;|import\s+(?:public\s+|weak\s+|option\s+)?["']|option\s+[\w.()]+\s*=|message\s+\w+\s*\{\s*(?:\}|(?:optional|required|repeated|reserved|extensions|message|enum|oneof|option|map)\b|[\w.]+\s+\w+\s*=)|service\s+\w+\s*\{\s*(?:\}|rpc\b|option\b))/

/** The place of a file within its set. */
export interface FileSource {
  /** As imports name it. Empty for a single text. */
  readonly path: string
  /** JSON Pointer of the text in the artifact. */
  readonly at: string
  readonly text: string
}

/** Reads one file. The problem names the fault with its line and column in this text. */
export function readProtoFile(source: FileSource, limits: DocumentLimits): Result<ReadProtoFile> {
  const { at } = source
  const text = source.text.startsWith('\uFEFF') ? source.text.slice(1) : source.text
  if (text.length > limits.maxLength) {
    return fail(overLimit(`it has ${text.length} characters, more than ${limits.maxLength}`))
  }
  try {
    const places = new Map<string, number>()
    const file = readDeclarations({ ...source, text }, limits, places)
    const positionOf = positions(text)
    return ok({ file, locate: (pointer) => positionOf(nearestOffset(places, pointer, at)) })
  } catch (error) {
    if (error instanceof ReadFault) return fail(at === '' ? error.problem : { ...error.problem, pointer: at })
    throw error
  }
}

function nearestOffset(places: ReadonlyMap<string, number>, pointer: string, top: string): number {
  for (let near = pointer; near.length > top.length; near = near.slice(0, near.lastIndexOf('/'))) {
    const offset = places.get(near)
    if (offset !== undefined) return offset
  }
  return places.get(top) ?? 0
}

function readDeclarations(
  { path, at, text }: FileSource,
  limits: DocumentLimits,
  places: Map<string, number>,
): ProtoFile {
  const cursor = new Cursor(text, limits.maxDepth)
  const syntax = readSyntax(cursor)
  let packageName: string | null = null
  const owner = {
    get fullName() {
      return packageName ?? ''
    },
  }
  const options = new OptionSet(owner)
  const features = new FeatureScope(defaultFeatures(syntax), options.values)
  const reading = { cursor, syntax, places }
  let scope = new Scope(reading, { fullName: '', at }, features)
  const imports: string[] = []
  const publicImports: string[] = []
  const services: ProtoService[] = []
  const declared: Declarations = { messages: [], enums: [], extensions: [] }
  while (cursor.ahead.kind !== 'end') {
    const { offset } = cursor.ahead
    if (cursor.take(';')) continue
    if (cursor.take('package')) {
      const first = places.get(`${at}/package`)
      if (packageName !== null) cursor.faultTwice('the package', offset, first ?? 0)
      if (scope.isUsed) cursor.fault('the package is declared after what belongs to it', offset)
      packageName = cursor.reference('the name of a package').text
      places.set(`${at}/package`, offset)
      scope = new Scope(reading, { fullName: packageName, at }, features)
      cursor.expect(';')
    } else if (cursor.take('import')) {
      const isPublic = cursor.isAt('public')
      const path = readImport(cursor)
      imports.push(path)
      if (isPublic) publicImports.push(path)
    } else if (cursor.take('option')) {
      options.read(cursor)
      cursor.expect(';')
    } else if (cursor.isAt('service')) services.push(readService(scope))
    else if (!readDeclaration(scope, declared)) cursor.refuse('a declaration')
  }
  const named = { path, at, syntax, package: packageName ?? '' }
  return { ...named, imports, publicImports, options: options.values, services, ...declared }
}

function readSyntax(cursor: Cursor): string {
  const isEdition = cursor.isAt('edition')
  if (!isEdition && !cursor.isAt('syntax')) return 'proto2'
  cursor.next()
  cursor.expect('=')
  const { offset } = cursor.ahead
  const stated = cursor.string(isEdition ? 'an edition' : 'a syntax')
  const known = isEdition ? EDITIONS : SYNTAXES
  if (!known.has(stated)) {
    const what = `${JSON.stringify(stated)} is not ${isEdition ? 'an edition' : 'a syntax'} that is known here`
    cursor.fault(`${what} (${[...known].join(', ')})`, offset)
  }
  cursor.expect(';')
  return stated
}

function readImport(cursor: Cursor): string {
  if (!cursor.take('public') && !cursor.take('weak')) cursor.take('option')
  const path = cursor.string('the path of a file')
  cursor.expect(';')
  return path
}
