/** The file of an ignore list: YAML, checked against its schema, every mistake with its line and column. */
import { Ajv } from 'ajv'
import type { Static } from 'typebox'
import { ok, readSelector, type Result, Type } from '../../engine/internal.ts'
import { plainSchema } from '../settings/input-schema.ts'
import { pathOfPointer, type Mistake } from '../errors/mistake.ts'
import { mistakesOf } from '../settings/schema-mistakes.ts'
import { placedMistake, readSourceText, type SourceText } from '../settings/source-text.ts'
import { messageOf } from '../errors/startup-error.ts'
import type { IgnoreEntry } from './ignore-list.ts'
import { readTextFile } from '../runtime/regular-file.ts'

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

const Entry = Type.Object(
  {
    rule: text('Rule id, pattern of ids (mcp-tool-*), or coordinates (format:openapi,kind:lifecycle).'),
    method: text('HTTP method of the operation.'),
    path: text('Path of the operation, as the contract writes it.'),
    tool: text('Name of the tool.'),
    location: text('JSON Pointer of the finding, or of something above it.'),
    fingerprint: text('Fingerprint of the finding.'),
    expires: Type.Optional(
      Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'Last day on which the entry holds, YYYY-MM-DD.' }),
    ),
    reason: Type.String({ minLength: 1, description: 'Why the finding is accepted.' }),
  },
  { additionalProperties: false },
)

const IgnoreFile = Type.Object({ ignore: Type.Array(Entry) }, { additionalProperties: false })
type IgnoreFile = Static<typeof IgnoreFile>

const CRITERIA = ['rule', 'method', 'path', 'tool', 'location', 'fingerprint'] as const

const check = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<IgnoreFile>(plainSchema(IgnoreFile))

export function readIgnoreFile(file: string): Result<readonly IgnoreEntry[], readonly Mistake[]> {
  let content: string
  try {
    content = readTextFile(file)
  } catch (error) {
    const mistake = { place: file, path: '', message: 'the ignore list cannot be read', fix: messageOf(error) }
    return { ok: false, problem: [mistake] }
  }
  const source = readSourceText(file, content)
  if (!source.ok) return source
  const { value } = source.value
  const mistakes = check(value) ? entryMistakes(value, source.value) : ignoreMistakes(source.value)
  if (mistakes.length > 0 || !check(value)) return { ok: false, problem: mistakes }
  return ok(value.ignore.map((entry, index) => ({ ...entry, place: source.value.place(`/ignore/${index}`, 'key') })))
}

function ignoreMistakes(source: SourceText): readonly Mistake[] {
  return mistakesOf(check.errors ?? []).map((mistake) => placedMistake(source, mistake))
}

/** An entry without a criterion would ignore everything; one with a mistyped rule nothing. */
function entryMistakes({ ignore }: IgnoreFile, source: SourceText): readonly Mistake[] {
  return ignore.flatMap((entry, index): readonly Mistake[] => {
    const pointer = `/ignore/${index}`
    if (CRITERIA.every((name) => entry[name] === undefined)) {
      const place = source.place(pointer, 'value')
      const fix = `state at least one of ${CRITERIA.join(', ')}`
      return [{ place, path: pathOfPointer(pointer), message: 'the entry does not say which findings it ignores', fix }]
    }
    const selector = entry.rule === undefined ? null : readSelector(entry.rule)
    if (selector === null || selector.ok) return []
    const place = source.place(`${pointer}/rule`, 'value')
    return [{ place, path: pathOfPointer(`${pointer}/rule`), ...selector.problem }]
  })
}
