/**
 * Copies single operations of the candidate OpenAPI contract into the baseline. Everything that affects these
 * operations comes from the candidate. The other operations keep the baseline's version of shared parts.
 */
import { canonicalJson } from '../../common/hash.ts'
import { fail, ok, type Result } from '../../common/result.ts'
import { isRecord, placeAt, type JsonRecord } from '../../schema/located.ts'
import { readDocument } from '../document.ts'
import { restoreJson, separateNumbers } from '../exact-numbers.ts'
import { NO_FILES, OpenApiDocuments } from '../documents.ts'
import { Inheritance } from '../inheritance.ts'
import { dialectOfVersion } from './contract.ts'
import { rootInPlace } from './reading.ts'
import type { DocumentLimits } from '../../model/limits.ts'
import { composePointer, parsePointer, resolvePointer } from '../pointer.ts'
import {
  pathItemAt,
  listUnder,
  objectUnder,
  operationsOf,
  withInheritedParameters,
  withMember,
  withOperation,
  type FoundOperation,
} from './path-operations.ts'
import {
  ACCEPTED,
  componentPointer,
  reachedParts,
  referredParts,
  type Subtypes,
  referencedPointer,
  UnmovableError,
} from './referenced-components.ts'
import { rewriteReferences } from '../rewritten-references.ts'
import { pointerFragment } from '../../common/json-pointer.ts'

export interface AcceptedOperations {
  /** The new contract, as JSON. */
  readonly content: string
  /** The accepted operations as `METHOD /path`, as either side writes them. */
  readonly operations: readonly string[]
}

/**
 * The baseline with these operations changed, added or removed as in the candidate.
 * @param names operationId or `METHOD /path` each; a problem has the pointer `/INDEX` of the faulty one, or none
 */
export function acceptOperations(
  baseline: string,
  candidate: string,
  names: readonly string[],
  limits: DocumentLimits,
): Result<AcceptedOperations> {
  const numbers = separateNumbers([baseline, candidate], limits)
  const [ownBaseline = '', ownCandidate = ''] = numbers.texts
  const before = readDocument(ownBaseline, limits)
  if (!before.ok) return before
  const after = readDocument(ownCandidate, limits)
  if (!after.ok) return after
  const [base, head] = [rootInPlace(before.value), rootInPlace(after.value)]
  if (!isRecord(base) || !isRecord(head)) return invalidAcceptance('Both contracts have to be objects.')
  const difference = wholeDifference(base, head)
  if (difference !== null)
    return invalidAcceptance(
      `The two contracts differ in ${difference}, which bears on every operation: accept all of it.`,
    )
  const chosen: ChosenOperation[] = []
  for (const [index, name] of names.entries()) {
    const choice = chooseOperation(base, head, name)
    if (!choice.ok) return fail({ ...choice.problem, pointer: `/${index}` })
    chosen.push(choice.value)
  }
  try {
    const content = restoreJson(JSON.stringify(composed(base, head, chosen)), numbers)
    return ok({
      content,
      operations: chosen.flatMap((choice) => [choice.before, choice.after].flatMap(operationLabels)),
    })
  } catch (error) {
    if (error instanceof UnmovableError) return invalidAcceptance(error.message)
    throw error
  }
}

/** Members of the root that affect each operation and cannot be stated within one. */
function wholeDifference(base: JsonRecord, head: JsonRecord): string | null {
  const version = minorVersion(base)
  if (version === '' || version !== minorVersion(head)) return 'the version of OpenAPI'
  const names = ['$self', 'jsonSchemaDialect', 'host', 'basePath']
  return names.find((name) => !isSameValue(base[name], head[name])) ?? null
}

/** Major and minor number; YAML may have read `2.0` as a number. */
function minorVersion({ openapi, swagger }: JsonRecord): string {
  const stated = openapi ?? swagger
  const version = typeof stated === 'number' ? stated.toFixed(1) : stated
  return typeof version === 'string' ? (/^\d+\.\d+/.exec(version)?.[0] ?? '') : ''
}

interface ChosenOperation {
  readonly before: FoundOperation | null
  readonly after: FoundOperation | null
}

function chooseOperation(base: JsonRecord, head: JsonRecord, name: string): Result<ChosenOperation> {
  const [method = '', path] = name.split(/ (.*)/s, 2)
  const isNamed = (found: FoundOperation): boolean =>
    path === undefined
      ? found.operation.operationId === name
      : [method, method.toUpperCase()].includes(found.method) &&
        withoutTemplateNames(found.path) === withoutTemplateNames(path)
  const [before, after] = [operationsOf(base).filter(isNamed), operationsOf(head).filter(isNamed)]
  const quoted = JSON.stringify(name)
  if (before.length > 1 || after.length > 1)
    return invalidAcceptance(`${quoted} names several operations; name one as METHOD /path`)
  if (before.length + after.length === 0)
    return invalidAcceptance(
      `neither the baseline nor the candidate has the operation ${quoted}; name it by operationId or METHOD /path`,
    )
  return ok({ before: before[0] ?? null, after: after[0] ?? null })
}

/** Paths that differ only in parameter names are one path. */
function withoutTemplateNames(path: string): string {
  return path.replace(/\{[^{}]*\}/g, '{}')
}

function operationLabels(found: FoundOperation | null): readonly string[] {
  return found === null ? [] : [`${found.method} ${found.path}`]
}

function composed(base: JsonRecord, head: JsonRecord, chosen: readonly ChosenOperation[]): JsonRecord {
  let rest = base
  for (const { before } of chosen)
    if (before !== null) rest = withOperation(withOwnParameters(rest, before.path), before, null)
  const coming = chosen.flatMap(({ after }) => (after === null ? [] : [after]))
  for (const found of coming) assertFree(rest, found)
  const operations = coming.map((found) => ({ found, operation: selfContained(base, head, found) }))
  const schemes = operations.flatMap(({ operation }) => requiredSchemes(operation))
  const moved = moveParts(rest, head, [
    ...operations.map(({ operation }) => operation),
    ...schemes.map((name) => ({ $ref: `#${schemePointer(head, name)}` })),
  ])
  let whole = moved.root
  for (const { found, operation } of operations)
    whole = withOperation(withOwnParameters(whole, found.path), found, moved.rewrite(operation))
  return withoutUnused(whole)
}

/** No other operation may have the same name, or the same path in another notation. */
function assertFree(rest: JsonRecord, { path, operation }: FoundOperation): void {
  for (const other of operationsOf(rest)) {
    const label = `${other.method} ${other.path}`
    if (other.path !== path && withoutTemplateNames(other.path) === withoutTemplateNames(path))
      throw new UnmovableError(`The candidate writes ${other.path} as ${path}: accept ${label} too.`)
    if (operation.operationId !== undefined && other.operation.operationId === operation.operationId)
      throw new UnmovableError(`${label} of the baseline has the same operationId: accept it too.`)
  }
}

/** Members of a path item that affect its operations, stated in each operation instead. */
function withOwnParameters(root: JsonRecord, path: string): JsonRecord {
  const item = pathItemAt(root, path)
  if (item.parameters === undefined && item.servers === undefined) return root
  let whole = root
  for (const found of operationsOf(root).filter((other) => other.path === path)) {
    const servers = listUnder(found.operation, 'servers') ?? listUnder(item, 'servers')
    const parameters = withInheritedParameters(root, found.operation, found.item)
    const operation = {
      ...found.operation,
      ...(parameters.length > 0 && { parameters }),
      ...(servers !== null && { servers }),
    }
    whole = withOperation(whole, found, operation)
  }
  const paths = objectUnder(whole, 'paths')
  if (!Object.hasOwn(paths, path)) return whole
  const bare = withMember(withMember(pathItemAt(whole, path), 'parameters', null), 'servers', null)
  return { ...whole, paths: { ...paths, [path]: bare } }
}

/** The operation with the inherited members of its path item and document stated, if the baseline differs. */
function selfContained(base: JsonRecord, head: JsonRecord, found: FoundOperation): JsonRecord {
  const { item } = found
  const parameters = withInheritedParameters(head, found.operation, found.item)
  let operation: JsonRecord = parameters.length > 0 ? { ...found.operation, parameters } : found.operation
  const servers = listUnder(item, 'servers')
  if (servers !== null && operation.servers === undefined) operation = { ...operation, servers }
  for (const [name, absent] of INHERITED) {
    if (operation[name] !== undefined || isSameValue(base[name], head[name])) continue
    operation = { ...operation, [name]: head[name] ?? absent }
  }
  // The security of the operation is stated, so its schemes are known.
  const { security } = head
  return operation.security === undefined && security !== undefined ? { ...operation, security } : operation
}

/** Root members that operations inherit, and the meaning of their absence. */
const INHERITED: readonly (readonly [name: string, absent: readonly unknown[]])[] = [
  ['servers', [{ url: '/' }]],
  ['security', []],
  ['consumes', []],
  ['produces', []],
  ['schemes', []],
]

function requiredSchemes(operation: JsonRecord): readonly string[] {
  return (listUnder(operation, 'security') ?? []).flatMap((requirement) =>
    isRecord(requirement) ? Object.keys(requirement) : [],
  )
}

function schemePointer(root: JsonRecord, name: string): string {
  return composePointer(
    root.swagger === undefined ? ['components', 'securitySchemes', name] : ['securityDefinitions', name],
  )
}

interface MovedParts {
  /** The rest of the baseline, with the copied parts. */
  readonly root: JsonRecord
  readonly rewrite: (value: JsonRecord) => JsonRecord
}

/** Sections that contain parts. A part counts only if it is reachable. */
const HOLDERS: ReadonlySet<string> = new Set([
  'components',
  'definitions',
  'parameters',
  'responses',
  'securityDefinitions',
  'x-preflight-files',
  ACCEPTED,
])

/**
 * Copies the parts that values reach from the candidate: to their own place, or next to the version that other
 * operations need.
 */
function moveParts(rest: JsonRecord, head: JsonRecord, values: readonly JsonRecord[]): MovedParts {
  const subtypes = { base: subtypesIn(rest), head: subtypesIn(head) }
  const reached = reachedParts(values, head, subtypes.head)
  const changed = changedParts(rest, head, reached)
  const needed = neededParts(rest, subtypes.base)
  for (const part of reached) assertSelectable(part, subtypes, changed, needed)
  const generation = nextGeneration(rest)
  const placeOf = (part: string): string => {
    if (!changed.has(part) || !needed.has(part)) return part
    if (isScheme(part))
      throw new UnmovableError(
        `The candidate changes ${part}, which other operations are secured with: accept all of it.`,
      )
    return composePointer([ACCEPTED, generation]) + part
  }
  const rewrite = (value: unknown): unknown => rewriteReferences(value, movesTo(head, placeOf))
  let root = rest
  for (const part of changed) {
    const target = resolvePointer(head, part)
    if (target.found) root = withValue(root, parsePointer(placeOf(part)) ?? [], rewrite(target.value))
  }
  return {
    root,
    rewrite: (value) => {
      const copy = rewrite(value)
      return isRecord(copy) ? copy : value
    },
  }
}

/** A discriminator selects subtypes by their names, so all operations have the same ones, in one version. */
function assertSelectable(
  part: string,
  subtypes: { readonly base: Subtypes; readonly head: Subtypes },
  changed: ReadonlySet<string>,
  needed: ReadonlySet<string>,
): void {
  const [before, after] = [subtypes.base(part), subtypes.head(part)]
  const removed = before.find((one) => !after.includes(one))
  const differing = after.filter((one) => changed.has(one))
  const shared = needed.has(part) ? differing[0] : differing.find((one) => needed.has(one))
  const fixed = removed ?? shared
  if (fixed !== undefined)
    throw new UnmovableError(`A discriminator selects ${fixed} by its name, for all operations: accept all of it.`)
}

function movesTo(head: JsonRecord, placeOf: (part: string) => string) {
  const moved = (reference: string, isMapping: boolean): string => {
    const target = referencedPointer(reference, head, isMapping)
    const part = target === null ? null : componentPointer(target)
    if (target === null || part === null || !resolvePointer(head, target).found)
      throw new UnmovableError(
        `The reference ${JSON.stringify(reference)} names no part of the candidate: accept all of it.`,
      )
    const place = placeOf(part)
    if (place === part) return reference
    if (isMapping)
      throw new UnmovableError(`A discriminator maps to ${part}, which differs for other operations: accept all of it.`)
    return pointerFragment(place + target.slice(part.length))
  }
  return {
    ref: (reference: string) => moved(reference, false),
    mapping: (target: string) => moved(target, true),
    fixed: (keyword: string) => {
      throw new UnmovableError(`A part of the operation uses ${keyword}, which depends on its place: accept all of it.`)
    },
  }
}

/** Parts that differ between the two, or that lead to such parts. */
function changedParts(rest: JsonRecord, head: JsonRecord, parts: ReadonlySet<string>): ReadonlySet<string> {
  const changed = new Set(
    [...parts].filter((part) => !isSameValue(valueAtPointer(rest, part), valueAtPointer(head, part))),
  )
  for (let size = -1; size !== changed.size;) {
    size = changed.size
    for (const part of parts)
      if (referredParts(valueAtPointer(head, part), head).some((other) => changed.has(other))) changed.add(part)
  }
  return changed
}

function neededParts(rest: JsonRecord, subtypes?: Subtypes): ReadonlySet<string> {
  const own = Object.entries(rest).filter(([name]) => !HOLDERS.has(name))
  const schemes = new Set([
    ...requiredSchemes(rest),
    ...operationsOf(rest).flatMap(({ operation }) => requiredSchemes(operation)),
  ])
  const roots = [...schemes].map((name) => ({ $ref: pointerFragment(schemePointer(rest, name)) }))
  return reachedParts([...own.map(([name, value]) => ({ [name]: value })), ...roots], rest, subtypes)
}

/** Pointers of the shared schemas that inherit from one, as `Inheritance` finds them. */
function subtypesIn(root: JsonRecord): Subtypes {
  const dialect = dialectOfVersion(minorVersion(root))
  const inheritance = new Inheritance(new OpenApiDocuments(root, dialect, NO_FILES))
  const holder = dialect === 'openapi-2.0' ? ['definitions'] : ['components', 'schemas']
  return (part) => {
    const names = inheritance.subtypes({ value: null, at: placeAt(part), document: '' }) ?? []
    return names.map((name) => composePointer([...holder, name]))
  }
}

function isScheme(part: string): boolean {
  return /^\/(?:components\/securitySchemes|securityDefinitions)\//.test(part)
}

function nextGeneration(root: JsonRecord): string {
  const used = objectUnder(root, ACCEPTED)
  let number = 1
  while (Object.hasOwn(used, String(number))) number += 1
  return String(number)
}

/** Removes formerly accepted versions that are no longer reachable. */
function withoutUnused(root: JsonRecord): JsonRecord {
  const accepted = objectUnder(root, ACCEPTED)
  const used = new Set(
    [...neededParts(root)]
      .map((part) => parsePointer(part))
      .flatMap((tokens) => (tokens?.[0] === ACCEPTED ? [tokens[1]] : [])),
  )
  const kept = Object.entries(accepted).filter(([number]) => used.has(number))
  if (kept.length === Object.keys(accepted).length) return root
  return withMember(root, ACCEPTED, kept.length === 0 ? null : Object.fromEntries(kept))
}

function withValue(holder: JsonRecord, [step, ...steps]: readonly string[], value: unknown): JsonRecord {
  if (step === undefined) return holder
  return { ...holder, [step]: steps.length === 0 ? value : withValue(objectUnder(holder, step), steps, value) }
}

function valueAtPointer(root: unknown, pointer: string): unknown {
  const target = resolvePointer(root, pointer)
  return target.found ? target.value : undefined
}

function isSameValue(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return before === after
  return canonicalJson(before) === canonicalJson(after)
}

function invalidAcceptance(message: string): Result<never> {
  return fail({ code: 'INVALID_INPUT', message })
}
