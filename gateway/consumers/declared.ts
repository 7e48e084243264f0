/** Declared consumers: how they are written, in the configuration or in a file of their own that other teams keep. */
import { resolve } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Static } from 'typebox'
import { ok, Type } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { messageOf } from '../errors/startup-error.ts'
import type { Mistake } from '../errors/mistake.ts'
import { mistakesOf } from '../settings/schema-mistakes.ts'
import { placedMistake, readSourceText } from '../settings/source-text.ts'
import { readTextFile } from '../runtime/regular-file.ts'

const closed = { additionalProperties: false }

const Consumer = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, description: 'Who it is.' }),
    uses: Type.Array(
      Type.Object(
        {
          artifact: Type.Optional(
            Type.String({ minLength: 1, description: 'Id of the contract in the change set; any when absent.' }),
          ),
          operation: Type.Optional(
            Type.String({ pattern: '^[A-Z_]+ \\S.*$', description: 'METHOD /path, as the contract writes it.' }),
          ),
          tool: Type.Optional(Type.String({ minLength: 1, description: 'Name of the tool.' })),
        },
        closed,
      ),
      { minItems: 1, description: 'What it uses; without operation and tool the whole contract.' },
    ),
  },
  closed,
)
type Consumer = Static<typeof Consumer>

export const Consumers = Type.Array(Consumer, {
  default: [],
  description: 'Who uses which contracts: blast_radius.consumers_declared, and change_set.consumers for the policy.',
})

const ConsumersFile = Type.Object({ consumers: Type.Array(Consumer) }, closed)

/** Compiled where a file is named: most configurations name none. */
let compiled: ValidateFunction<Static<typeof ConsumersFile>> | null = null
const fileCheck = () => (compiled ??= new Ajv({ allErrors: true, verbose: true, strict: false }).compile(ConsumersFile))

/** Where the file lies; null: none is named. */
export function consumersFile(
  { consumers_file: file }: { readonly consumers_file?: string },
  directory: string,
): string | null {
  return file === undefined ? null : resolve(directory, file)
}

/** What stands in the file, or every mistake in it with its line and column. */
export function readConsumersFile(file: string): Result<readonly Consumer[], readonly Mistake[]> {
  let text: string
  try {
    text = readTextFile(file)
  } catch (error) {
    const message = 'the consumers file cannot be read'
    return { ok: false, problem: [{ place: file, path: 'consumers_file', message, fix: messageOf(error) }] }
  }
  const source = readSourceText(file, text)
  if (!source.ok) return source
  const document = source.value
  const { value } = document
  const checkFile = fileCheck()
  if (checkFile(value)) return ok(value.consumers)
  const mistakes = mistakesOf(checkFile.errors ?? []).map((mistake) => placedMistake(document, mistake))
  return { ok: false, problem: mistakes }
}
