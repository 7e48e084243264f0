/**
 * The form of what `compare` takes. The types state it for TypeScript. A program in JavaScript can pass anything, and an
 * option that is ignored, or a level that does not exist, would make a comparison milder than its caller wants.
 */
import { ARTIFACT_TYPES, type Artifact } from '../model/artifact.ts'
import { LEVELS } from '../model/finding.ts'
import type { CompareOptions } from '../model/format.ts'
import { lookupTable } from '../common/lookup-table.ts'
import { nearest } from '../common/suggestion.ts'
import { isRecord } from '../schema/located.ts'

/** What an option must be: for people, and as a test. */
interface OptionForm {
  readonly wanted: string
  fits(value: unknown): boolean
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isOneOf =
  (words: readonly string[]) =>
  (value: unknown): boolean =>
    isText(value) && words.includes(value)

const LEVEL_WORDS = [...LEVELS, 'off']
const STABILITIES = ['draft', 'alpha', 'beta', 'stable']
const REQUIRED_LIMITS = ['maxLength', 'maxDepth', 'maxAliases', 'maxExpansion']
const LIMITS = [...REQUIRED_LIMITS, 'maxValues', 'maxParts', 'maxParsedBytes']

const TEXT: OptionForm = { wanted: 'text', fits: isText }
const DAYS: OptionForm = { wanted: 'a whole number of days', fits: isCount }
const FLAG: OptionForm = { wanted: 'true or false', fits: (value) => typeof value === 'boolean' }

const OPTION_FORMS = lookupTable({
  limits: { wanted: `an object with the numbers ${REQUIRED_LIMITS.join(', ')}`, fits: areLimits },
  today: TEXT,
  deprecation_days_stable: DAYS,
  deprecation_days_beta: DAYS,
  stability_level: { wanted: `one of ${STABILITIES.join(', ')}`, fits: isOneOf(STABILITIES) },
  levels: {
    wanted: `an object with levels by rule; a level is one of ${LEVEL_WORDS.join(', ')}`,
    fits: (value) => isRecord(value) && Object.values(value).every(isOneOf(LEVEL_WORDS)),
  },
  match_path: TEXT,
  unmatch_path: TEXT,
  strip_prefix_base: TEXT,
  strip_prefix_head: TEXT,
  include_path_params: FLAG,
  case_insensitive_headers: FLAG,
  attributes: { wanted: 'a list of names', fits: (value) => Array.isArray(value) && value.every(isText) },
  files: { wanted: 'an object with base and head, each with texts by path', fits: areFiles },
} satisfies Readonly<Record<keyof CompareOptions, OptionForm>>)

function areLimits(value: unknown): boolean {
  return (
    isRecord(value) &&
    REQUIRED_LIMITS.every((name) => value[name] !== undefined) &&
    Object.entries(value).every(([name, limit]) => LIMITS.includes(name) && (limit === undefined || isLimit(limit)))
  )
}

/** Infinity: no limit. */
function isLimit(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

function areFiles(value: unknown): boolean {
  const areTexts = (files: unknown): boolean => isRecord(files) && Object.values(files).every(isText)
  return (
    isRecord(value) &&
    areTexts(value['base']) &&
    areTexts(value['head']) &&
    (value['document'] === undefined || isText(value['document']))
  )
}

/** What is wrong with the arguments of `compare`, in a sentence; null if they have the form of their types. */
export function inputMistake(artifact: Artifact, options: CompareOptions): string | null {
  return artifactMistake(artifact) ?? compareOptionsMistake(options)
}

function artifactMistake(artifact: unknown): string | null {
  if (!isRecord(artifact)) return 'The artifact must be an object with id, type, before and after.'
  if (!isOneOf(ARTIFACT_TYPES)(artifact['type']))
    return `The type of the artifact must be one of ${ARTIFACT_TYPES.join(', ')}.`
  if (!isText(artifact['id'])) return 'The id of the artifact must be text.'
  const side = ['before', 'after'].find((name) => !isText(artifact[name]))
  if (side !== undefined)
    return `The member ${side} of the artifact must be text. An empty text means that the contract does not exist on that side.`
  const path = artifact['path']
  if (path !== undefined && !isText(path)) return 'The path of the artifact must be text.'
  const files = artifact['files'] ?? {}
  if (isRecord(files) && Object.values(files).every(isFile)) return null
  return 'The files of the artifact must be texts by path. A text that differs is {before, after}.'
}

function isFile(file: unknown): boolean {
  const isSide = (text: unknown): boolean => text === undefined || isText(text)
  return isText(file) || (isRecord(file) && isSide(file['before']) && isSide(file['after']))
}

function compareOptionsMistake(options: unknown): string | null {
  if (!isRecord(options)) return 'The options must be an object. It may be empty.'
  for (const [name, value] of Object.entries(options)) {
    const form = OPTION_FORMS[name]
    if (form === undefined) return unknownOption(name)
    if (value !== undefined && !form.fits(value)) return `The option ${name} must be ${form.wanted}.`
  }
  return null
}

function unknownOption(name: string): string {
  const names = Object.keys(OPTION_FORMS)
  const near = nearest(name, names)
  const hint = near === null ? `Options: ${names.join(', ')}.` : `Did you mean ${near}?`
  return `The option ${JSON.stringify(name)} does not exist. ${hint}`
}
