/**
 * An interface as its users know it: operations, what each takes, and what it answers. It is drawn at random, edited, and
 * written as OpenAPI in several ways that mean the same.
 */
import type { Random } from '../../soundness/random.ts'

export type Kind = 'text' | 'whole' | 'flag' | 'listed'
export type Place = 'query' | 'header' | 'path'

export interface Parameter {
  readonly name: string
  readonly place: Place
  readonly kind: Kind
  readonly isRequired: boolean
}

export interface Media {
  readonly name: string
  /** The kind of the member `f` of an object in JSON, and whether it must be there. Other types have no schema. */
  readonly member: Kind
  readonly isRequired: boolean
}

export interface Answer {
  readonly status: string
  readonly media: readonly Media[]
  readonly headers: readonly { readonly name: string; readonly isRequired: boolean }[]
}

/** Credentials that are needed together: scopes by scheme. */
export type Credentials = Readonly<Record<string, readonly string[]>>

export interface PlannedOperation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: { readonly isRequired: boolean; readonly media: readonly Media[] } | null
  readonly answers: readonly Answer[]
  /** One alternative is enough; none: no credentials. */
  readonly security: readonly Credentials[]
}

export type Plan = readonly PlannedOperation[]

const PATHS = ['/a', '/a/{x}', '/a/b', '/a/{x}/c', '/a/{x}/{y}', '/d'] as const
const METHODS = ['get', 'post', 'put', 'delete'] as const
const KINDS = ['text', 'whole', 'flag', 'listed'] as const
const MEDIA = ['application/json', 'application/xml', 'text/csv'] as const
const STATUSES = ['200', '201', '404', '4XX', 'default'] as const

export function drawnPlan(random: Random): Plan {
  const plan: PlannedOperation[] = []
  for (const path of random.some(PATHS, 1, 4))
    for (const method of random.some(METHODS, 1, 2)) plan.push(drawnOperation(method, path, random))
  return plan
}

function drawnOperation(method: string, path: string, random: Random): PlannedOperation {
  const takesBody = method === 'post' || method === 'put'
  return {
    method,
    path,
    parameters: [
      ...inPath(path, random),
      ...random.some(['p', 'q', 'r'], 0, 3).map((name) => drawnParameter(name, random)),
    ],
    body: takesBody && random.chance(0.7) ? { isRequired: random.chance(0.5), media: drawnMedia(random) } : null,
    answers: random.some(STATUSES, 1, 3).map((status) => drawnAnswer(status, random)),
    security: drawnSecurity(random),
  }
}

function inPath(path: string, random: Random): readonly Parameter[] {
  return variablesOf(path).map((name) => ({ name, place: 'path', kind: random.pick(KINDS), isRequired: true }))
}

export function variablesOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

function drawnParameter(name: string, random: Random): Parameter {
  return {
    name,
    place: random.pick(['query', 'header'] as const),
    kind: random.pick(KINDS),
    isRequired: random.chance(0.4),
  }
}

function drawnMedia(random: Random): readonly Media[] {
  return random.some(MEDIA, 1, 2).map((name) => ({ name, member: random.pick(KINDS), isRequired: random.chance(0.5) }))
}

function drawnAnswer(status: string, random: Random): Answer {
  const headers = random.some(['X-A', 'X-B'], 0, 2).map((name) => ({ name, isRequired: random.chance(0.5) }))
  return { status, media: random.chance(0.7) ? drawnMedia(random) : [], headers }
}

function drawnSecurity(random: Random): readonly Credentials[] {
  return random.chance(0.5) ? [] : Array.from({ length: random.between(1, 2) }, () => drawnCredentials(random))
}

function drawnCredentials(random: Random): Credentials {
  const schemes = random.some(['key', 'token', 'oauth'], random.chance(0.2) ? 0 : 1, 2)
  return Object.fromEntries(
    schemes.map((scheme) => [scheme, scheme === 'oauth' ? random.some(['read', 'write'], 0, 2).toSorted() : []]),
  )
}

function moved(parameter: Parameter): Parameter {
  return { ...parameter, place: parameter.place === 'query' ? 'header' : 'query' }
}

type Edit = (operation: PlannedOperation, random: Random) => PlannedOperation

const inList = <T>(list: readonly T[], random: Random, change: (one: T) => T): readonly T[] => {
  const at = random.below(Math.max(list.length, 1))
  return list.map((one, index) => (index === at ? change(one) : one))
}
const without = <T>(list: readonly T[], random: Random): readonly T[] => {
  const at = random.below(Math.max(list.length, 1))
  return list.filter((_, index) => index !== at)
}
const outsidePath = ({ parameters }: PlannedOperation): readonly Parameter[] =>
  parameters.filter(({ place }) => place !== 'path')
const pathOnly = ({ parameters }: PlannedOperation): readonly Parameter[] =>
  parameters.filter(({ place }) => place === 'path')

/** What a change of one operation may be. */
const EDITS: Readonly<Record<string, Edit>> = {
  'a kind changed': (operation, random) => ({
    ...operation,
    parameters: inList(operation.parameters, random, (one) => ({ ...one, kind: random.pick(KINDS) })),
  }),
  'a parameter became required or optional': (operation, random) => ({
    ...operation,
    parameters: [
      ...pathOnly(operation),
      ...inList(outsidePath(operation), random, (one) => ({ ...one, isRequired: !one.isRequired })),
    ],
  }),
  'a parameter moved': (operation, random) => ({
    ...operation,
    parameters: [...pathOnly(operation), ...inList(outsidePath(operation), random, moved)],
  }),
  'a parameter came': (operation, random) => ({
    ...operation,
    parameters: [...operation.parameters, drawnParameter('s', random)],
  }),
  'a parameter went': (operation, random) => ({
    ...operation,
    parameters: [...pathOnly(operation), ...without(outsidePath(operation), random)],
  }),
  'the body became required or optional': (operation) => ({
    ...operation,
    body: operation.body === null ? null : { ...operation.body, isRequired: !operation.body.isRequired },
  }),
  'the body came or went': (operation, random) => ({
    ...operation,
    body: operation.body === null ? { isRequired: random.chance(0.5), media: drawnMedia(random) } : null,
  }),
  'the media types of the body changed': (operation, random) => ({
    ...operation,
    body: operation.body === null ? null : { ...operation.body, media: drawnMedia(random) },
  }),
  'an answer changed': (operation, random) => ({
    ...operation,
    answers: inList(operation.answers, random, ({ status }) => drawnAnswer(status, random)),
  }),
  'an answer has another status': (operation, random) => ({
    ...operation,
    answers: inList(operation.answers, random, (one) => ({ ...one, status: random.pick(STATUSES) })).filter(
      ({ status }, index, all) => all.findIndex((other) => other.status === status) === index,
    ),
  }),
  'the security changed': (operation, random) => ({ ...operation, security: drawnSecurity(random) }),
  'an alternative of the security came': (operation, random) => ({
    ...operation,
    security: [...operation.security, drawnCredentials(random)],
  }),
  'an alternative of the security went': (operation, random) => ({
    ...operation,
    security: without(operation.security, random),
  }),
  'the path changed': (operation, random) => {
    const path = random.pick(PATHS)
    return { ...operation, path, parameters: [...inPath(path, random), ...outsidePath(operation)] }
  },
}

/** A plan with one or two changes, and their names. */
export function editedPlan(plan: Plan, random: Random): { readonly plan: Plan; readonly edits: readonly string[] } {
  let edited = plan
  const edits: string[] = []
  for (let count = random.chance(0.8) ? 1 : 2; count > 0; count -= 1) {
    const what = random.pick([...Object.keys(EDITS), 'an operation went', 'an operation came'])
    edits.push(what)
    if (what === 'an operation went') edited = without(edited, random)
    else if (what === 'an operation came')
      edited = [...edited, drawnOperation(random.pick(METHODS), random.pick(PATHS), random)]
    else edited = inList(edited, random, (one) => EDITS[what]?.(one, random) ?? one)
  }
  // One operation for each method of a path.
  const names = edited.map(({ method, path }) => `${method} ${path}`)
  return { plan: edited.filter((_, index) => names.indexOf(names[index] ?? '') === index), edits }
}
