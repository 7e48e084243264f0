/** Configuration file and environment → one frozen Config, or every mistake in them with its place. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { Validator, type Schema } from '@cfworker/json-schema'
import type { ValidateFunction } from 'ajv'
import type * as AjvModule from 'ajv'
import { appendPointer, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { messageOf } from '../errors/startup-error.ts'
import { recordIn, textIn } from '../json/unchecked-json.ts'
import { checkMeaning, warningsOf } from './checks.ts'
import { applyDefaults } from '../settings/defaults.ts'
import { variable, type Environment } from '../settings/environment.ts'
import { plainSchema } from '../settings/input-schema.ts'
import { configInputSchema } from './input-schema.ts'
import { inReadingOrder, pointerSegments, type Mistake } from '../errors/mistake.ts'
import { applyOverrides, type Overridden } from './overrides.ts'
import { withPaths } from './paths.ts'
import { foreignSections } from './protocol-checks.ts'
import { Config } from './schema.ts'
import { mistakesOf, type LocatedMistake } from '../settings/schema-mistakes.ts'
import { inlineSource, placedMistake, readSourceText, type SourceText } from '../settings/source-text.ts'
import { readTextFile } from '../runtime/regular-file.ts'
import { redactText } from '../telemetry/redaction.ts'

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
  const text = 'value' in source ? ok(inlineSource(source.value)) : readConfigFile(file)
  if (!text.ok) return text
  const overridden = applyOverrides(text.value.value, source.environment)
  const placed = (located: LocatedMistake): Mistake => placeMistake(located, text.value, overridden)

  const whole = completeConfig(overridden.value)
  const foreign = foreignSections(overridden.value)
  const formFaults = whole === null ? withoutPlaces(schemaMistakes(overridden.value), foreign) : []
  const sound = whole === null ? withoutSections(overridden.value, [...foreign, ...formFaults]) : overridden.value
  const complete = whole ?? completeConfig(sound)
  const config = complete === null ? null : withPaths(complete, directory)
  const left = new Set(Object.keys(recordIn(sound)))
  const isKnown = ({ absent = [] }: LocatedMistake): boolean =>
    absent.every((section) => left.has(section) || !Object.hasOwn(recordIn(overridden.value), section))
  const meaningFaults = config === null ? [] : [...blankTexts(sound, ''), ...checkMeaning(config)].filter(isKnown)
  const mistakes = [...overridden.mistakes, ...[...foreign, ...formFaults, ...meaningFaults].map(placed)]
  if (config === null) return { ok: false, problem: inReadingOrder(mistakes) }
  if (mistakes.length > 0) {
    return { ok: false, problem: [...inReadingOrder(mistakes), ...further(config, directory)] }
  }
  const unread = 'value' in source || file !== null ? [] : unreadConfig()
  const warnings = [...unread, ...overridden.warnings, ...warningsOf(config).map(placed)]
  return ok({ config: deepFreeze(config), file, directory, warnings })
}

/** Data directory that a configuration with mistakes elsewhere states; null: it states none, or cannot be read. */
export function dataDirectoryIn(file: string): string | null {
  const text = readConfigFile(file)
  return text.ok ? textIn(recordIn(text.value.value)['data_dir']) : null
}

/** A member that has to go is reported once: mistakes in it would say how to write what must not be there. */
function withoutPlaces(
  mistakes: readonly LocatedMistake[],
  removed: readonly LocatedMistake[],
): readonly LocatedMistake[] {
  return mistakes.filter(
    ({ pointer }) => !removed.some((place) => pointer === place.pointer || pointer.startsWith(`${place.pointer}/`)),
  )
}

/** The rest of the configuration, without the sections that have such a mistake; null when nothing is left. */
function withoutSections(value: unknown, faults: readonly LocatedMistake[]): object | null {
  if (typeof value !== 'object' || value === null) return null
  const faulty = new Set(faults.map(({ pointer }) => pointerSegments(pointer)[0]))
  const sound = Object.fromEntries(Object.entries(value).filter(([section]) => !faulty.has(section)))
  return completeConfig(sound) === null ? null : sound
}

/** A text of white space alone names nothing: a receipt for the operation `' '` authorizes what nobody asked for. */
function blankTexts(value: unknown, pointer: string): readonly LocatedMistake[] {
  if (typeof value === 'string')
    return /^\s+$/.test(value) ? [{ pointer, at: 'value', message: 'must not be blank', fix: 'write a value' }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => blankTexts(member, appendPointer(pointer, name)))
}

function readConfigFile(file: string | null): Result<SourceText, readonly Mistake[]> {
  if (file === null) return ok(inlineSource({}))
  try {
    const read = readSourceText(file, readTextFile(file))
    return read.ok && (read.value.value === null || read.value.value === undefined)
      ? { ok: false, problem: [emptyConfig(file)] }
      : read
  } catch (error) {
    const fix = messageOf(error).replace(`${file} `, 'it ')
    const mistake = { place: file, path: '', message: 'the configuration cannot be read', fix }
    return { ok: false, problem: [mistake] }
  }
}

/** The name that `preflight init` and the documentation give to a configuration. */
const USUAL_NAME = 'preflight.yaml'

/** No file is read without its name, but its author may expect that. */
function unreadConfig(): readonly Mistake[] {
  if (!existsSync(USUAL_NAME)) return []
  const message = 'this file of the working directory is not read, since no configuration is named'
  return [{ place: USUAL_NAME, path: '', message, fix: `add --config ${USUAL_NAME}, or set PREFLIGHT_CONFIG` }]
}

/** A file that is named must not be empty: an empty file was truncated, or its mount is missing. */
function emptyConfig(file: string): Mistake {
  return {
    place: file,
    path: '',
    message: 'the configuration is empty',
    fix: 'write at least one member; to run with defaults alone, name no file, or write {}',
  }
}

const completeSchema = plainSchema(Config)
const formSchema: Schema = JSON.parse(JSON.stringify(completeSchema))
const completeForm = new Validator(formSchema, '7')

function isConfig(value: unknown): value is Config {
  // An absent member may be there with the value undefined, which JSON does not have.
  return completeForm.validate(JSON.parse(JSON.stringify(value ?? null))).valid
}

/** With defaults; null if it has mistakes in its form. Defaults replace nothing, so they hide no mistake. */
function completeConfig(value: unknown): Config | null {
  const config = applyDefaults(completeSchema, value)
  return isConfig(config) ? config : null
}

const require = createRequire(import.meta.url)
const { $schema: _dialect, $id: _id, ...inputSchema } = configInputSchema

/**
 * Finds all mistakes of a configuration. To compile it takes half a second and tens of megabytes, which only a wrong
 * configuration costs. It is kept until the memory is needed: whoever corrects one tries several times.
 */
let wholeCheck: WeakRef<ValidateFunction> | null = null

function compileWholeCheck(): ValidateFunction {
  const { Ajv }: typeof AjvModule = require('ajv')
  const options = { allErrors: true, verbose: true, strict: false, strictNumbers: true, validateSchema: false }
  const check = new Ajv(options).compile(inputSchema)
  wholeCheck = new WeakRef(check)
  return check
}

/** The mistakes of a value that cannot be completed, at least one. */
function schemaMistakes(value: unknown): readonly LocatedMistake[] {
  const check = wholeCheck?.deref() ?? compileWholeCheck()
  if (check(value)) throw new Error('the defaults do not complete a configuration without mistakes')
  return mistakesOf(check.errors ?? [], inputSchema)
}

/** A mistake may quote what is there, and a URL may hold a password or a token. */
function placeMistake(located: LocatedMistake, source: SourceText, { origins }: Overridden): Mistake {
  const { pointer } = located
  const variableName = [...origins].find(([origin]) => pointer === origin || pointer.startsWith(`${origin}/`))?.[1]
  const { place, path, message, fix } = placedMistake(source, located)
  return { place: variableName ?? place, path, message: redactText(message), fix: redactText(fix) }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
