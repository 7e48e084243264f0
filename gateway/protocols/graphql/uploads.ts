/**
 * Files sent with an operation (GraphQL multipart request specification): a part `operations` with the request, a part
 * `map` that assigns the files to variables, and the files. Parsers of forms differ, and a file may replace whatever
 * the map names, so only one form is accepted. Files are assigned to places below `variables` that are null, and the
 * body contains nothing else.
 */
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { partName, readParts, refusedForm, type RawPart, type Read } from '../common/form-parts.ts'

type Upload = { readonly ok: true; readonly operations: Buffer } | { readonly ok: false; readonly why: string }

interface FormPart {
  readonly name: string
  readonly isFile: boolean
  readonly bytes: Buffer
}

/** @param type value of Content-Type */
export function readUpload(bytes: Buffer, type: string): Upload {
  const raw = readParts(bytes, type)
  if (!raw.ok) return raw
  const parts: FormPart[] = []
  for (const one of raw.value) {
    const part = formPart(one)
    if (!part.ok) return part
    parts.push(part.value)
  }
  const [operations, map, ...files] = parts
  if (operations?.name !== 'operations' || operations.isFile)
    return refusedForm('its first part is not the text "operations"')
  if (map?.name !== 'map' || map.isFile) return refusedForm('its second part is not the text "map"')
  const text = files.find(({ isFile }) => !isFile)
  if (text !== undefined) return refusedForm(`its part "${text.name}" names no file (filename)`)
  const names = files.map(({ name }) => name)
  if (new Set(names).size !== names.length) return refusedForm('two of its files have one name')
  const problem = mapProblem(map.bytes, operations.bytes, new Set(names))
  return problem === null ? { ok: true, operations: operations.bytes } : refusedForm(problem)
}

/** With other types a parser could decode a text in another way. */
const TEXT_TYPE = /^content-type:[ \t]*(?:application\/json|text\/plain)(?:;[ \t]*charset="?utf-8"?)?[ \t]*$/i
const ANY_TYPE = /^content-type:[ \t]*[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[^\r\n]*)?$/i

function formPart({ head: lines, bytes }: RawPart): Read<FormPart> {
  const named = partName(lines)
  if (named === null || /[^\w.-]/.test(named.name))
    return refusedForm('a part of its form is not named in the common way')
  const { name, isFile, others } = named
  // Some parsers apply a transfer coding or a second disposition.
  if (others.length > 1 || lines.length > 2 || !others.every((line) => (isFile ? ANY_TYPE : TEXT_TYPE).test(line)))
    return refusedForm(`the head of its part "${name}" says more than a name and a type`)
  return { ok: true, value: { name, isFile, bytes } }
}

/** Null: each file has its own place below `variables`. */
function mapProblem(map: Buffer, operations: Buffer, files: ReadonlySet<string>): string | null {
  const read = readStrictJson(map)
  const whole = readStrictJson(operations)
  if (!read.ok || !isJsonObject(read.value)) return 'its "map" is not a JSON object with one reading'
  if (!whole.ok) return `its "operations" have no single reading: ${whole.message}`
  const taken = new Set<string>()
  const entries = Object.entries(read.value)
  const named = new Set(entries.map(([name]) => name))
  const missing = [...files].find((name) => !named.has(name))
  if (missing !== undefined) return `its map does not name the file "${missing}"`
  for (const [name, paths] of entries) {
    if (!files.has(name)) return `its map names "${name.slice(0, 40)}", which is not a file of the form`
    if (!Array.isArray(paths) || paths.length === 0) return 'a value of its map is not a list of paths'
    for (const path of paths as readonly unknown[]) {
      if (typeof path !== 'string' || taken.has(path))
        return 'its map contains a path twice, or something other than a path'
      taken.add(path)
      if (!isPlaceOfFile(path, whole.value))
        return `its map puts a file at "${path.slice(0, 80)}", which is not a variable with the value null`
    }
  }
  return null
}

/** `variables.file`, `variables.files.0`, in a batch `0.variables.file`: own members and items down to one that is null. */
function isPlaceOfFile(path: string, operations: unknown): boolean {
  const names = path.split('.')
  const root = Array.isArray(operations) ? 1 : 0
  if (names[root] !== 'variables' || names.length < root + 2) return false
  let value = operations
  for (const name of names) {
    if (Array.isArray(value)) value = /^(?:0|[1-9][0-9]{0,5})$/.test(name) ? value[Number(name)] : undefined
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name]
    else return false
  }
  return value === null
}
