/** Configuration file and environment → one frozen Config, or every mistake in them with its place. */
import { dirname, resolve } from 'node:path'
import { Ajv } from 'ajv'
import { ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { messageOf } from '../errors/startup-error.ts'
import { checkMeaning, warningsOf } from './checks.ts'
import { applyDefaults } from '../settings/defaults.ts'
import { variable, type Environment } from '../settings/environment.ts'
import { plainSchema } from '../settings/input-schema.ts'
import { configInputSchema } from './input-schema.ts'
import { pathOfPointer, pointerSegments, type Mistake } from '../errors/mistake.ts'
import { applyOverrides, type Overridden } from './overrides.ts'
import { withPaths } from './paths.ts'
import { foreignSections } from './protocol-checks.ts'
import { Config } from './schema.ts'
import { mistakesOf, type LocatedMistake } from '../settings/schema-mistakes.ts'
import { inlineSource, readSourceText, type SourceText } from '../settings/source-text.ts'
import { readRegularFile } from '../runtime/regular-file.ts'

/** The source of the configuration: a file (or none), or a value; the environment overrides both. */
export type ConfigSource = { readonly environment: Environment } & (
  | { readonly file: string | null }
  | { readonly value: unknown; readonly directory?: string }
)

export interface LoadedConfig {
  readonly config: Config
  /** Absolute; null when there is none. */
  readonly file: string | null
  /** Base of relative paths: the directory of the file, else the working directory. */
  readonly directory: string
  readonly warnings: readonly Mistake[]
}

/** The file that a command line or an environment names. */
export function configFile(option: string | undefined, environment: Environment): string | null {
  return option ?? variable(environment, 'PREFLIGHT_CONFIG')
}

/** Mistakes that need more than the configuration, such as those in the policy that it names. */
type FurtherMistakes = (config: Config, directory: string) => readonly Mistake[]

/** @param further called only when there are mistakes already, so that one answer contains all of them. */
export function loadConfig(
  source: ConfigSource,
  further: FurtherMistakes = () => [],
): Result<LoadedConfig, readonly Mistake[]> {
  const file = 'file' in source && source.file !== null ? resolve(source.file) : null
  const directory = file === null ? resolve('directory' in source ? (source.directory ?? '.') : '.') : dirname(file)
  const text = 'value' in source ? ok(inlineSource(source.value)) : readFile(file)
  if (!text.ok) return text
  const overridden = applyOverrides(text.value.value, source.environment)
  const placed = (located: LocatedMistake): Mistake => placeMistake(located, text.value, overridden)

  const formFaults = schemaMistakes(overridden.value)
  const sound = formFaults.length === 0 ? overridden.value : withoutSections(overridden.value, formFaults)
  const config = sound === null ? null : withPaths(completed(sound), directory)
  const meaningFaults = config === null ? [] : [...foreignSections(sound), ...checkMeaning(config)]
  const mistakes = [...overridden.mistakes, ...[...formFaults, ...meaningFaults].map(placed)]
  if (config === null) return { ok: false, problem: inReadingOrder(mistakes) }
  if (mistakes.length > 0) {
    return { ok: false, problem: [...inReadingOrder(mistakes), ...further(config, directory)] }
  }
  const warnings = [...overridden.warnings, ...warningsOf(config).map(placed)]
  return ok({ config: deepFreeze(config), file, directory, warnings })
}

/** The rest of the configuration, without the sections that have a mistake in their form; null when nothing is left. */
function withoutSections(value: unknown, faults: readonly LocatedMistake[]): object | null {
  if (typeof value !== 'object' || value === null) return null
  const faulty = new Set(faults.map(({ pointer }) => pointerSegments(pointer)[0]))
  const sound = Object.fromEntries(Object.entries(value).filter(([section]) => !faulty.has(section)))
  return checkInput(sound) ? sound : null
}

function readFile(file: string | null): Result<SourceText, readonly Mistake[]> {
  if (file === null) return ok(inlineSource({}))
  try {
    const read = readSourceText(file, readRegularFile(file, 'utf8'))
    return read.ok && (read.value.value === null || read.value.value === undefined)
      ? { ok: false, problem: [empty(file)] }
      : read
  } catch (error) {
    const mistake = { place: file, path: '', message: 'the configuration cannot be read', fix: messageOf(error) }
    return { ok: false, problem: [mistake] }
  }
}

/** A file that is named must not be empty: an empty file was truncated, or its mount is missing. */
function empty(file: string): Mistake {
  return {
    place: file,
    path: '',
    message: 'the configuration is empty',
    fix: 'write at least one member; to run with defaults alone, name no file, or write {}',
  }
}

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, validateSchema: false })
const { $schema: _dialect, $id: _id, ...inputSchema } = configInputSchema
const checkInput = ajv.compile(inputSchema)
const checkComplete = ajv.compile<Config>(plainSchema(Config))

function schemaMistakes(value: unknown): readonly LocatedMistake[] {
  return checkInput(value) ? [] : mistakesOf(checkInput.errors ?? [])
}

/** Throws when defaults do not complete a value that passed the check: then the schema contradicts itself. */
function completed(value: unknown): Config {
  const config = applyDefaults(plainSchema(Config), value)
  if (checkComplete(config)) return config
  throw new Error(`the defaults do not complete the configuration: ${ajv.errorsText(checkComplete.errors)}`)
}

function placeMistake(
  { pointer, at, message, fix }: LocatedMistake,
  source: SourceText,
  { origins }: Overridden,
): Mistake {
  const variableName = [...origins].find(([origin]) => pointer === origin || pointer.startsWith(`${origin}/`))?.[1]
  return { place: variableName ?? source.place(pointer, at), path: pathOfPointer(pointer), message, fix }
}

function inReadingOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  return mistakes.toSorted((a, b) => a.place.localeCompare(b.place, 'en', { numeric: true }))
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
