/**
 * Finds what a policy enforces less than the previous one. The strictest rule wins, so an additional rule weakens nothing: a
 * pack is at least as strict as another one when it contains each of its rules. A change that cannot be shown to be as strict
 * counts as weaker.
 */
import { isDeepStrictEqual } from 'node:util'
import { requiredApproval } from '../../engine/base.ts'
import type { CompiledPolicy } from '../../engine/internal.ts'
import type { Enforced, Weaker } from './enforced.ts'

/** Shipped packs, each stricter than the previous one. */
const SHIPPED = ['strict', 'default', 'observe'] as const

type Document = CompiledPolicy['document']
type PackRule = Document['rules'][number]

const STRICTEST_FIRST = ['BLOCK', 'REQUIRE_APPROVAL', 'WARN', 'ALLOW'] as const

export function weakerPolicy(before: Enforced, after: Enforced): readonly Weaker[] {
  if (before.policy.hash === after.policy.hash) return []
  const [was, is] = [before, after].map(({ config }) => SHIPPED.findIndex((name) => name === config.policy))
  // A file may contain the name of a shipped pack; the name in the configuration counts.
  if (was !== undefined && is !== undefined && was !== is && was !== -1 && is !== -1)
    return is > was ? [{ path: 'policy', before: before.config.policy, after: after.config.policy }] : []
  return weakerDocument(before.policy.document, after.policy.document)
}

/** Every member of a pack, with its comparison; a member without a row does not compile. */
const MEMBERS: {
  readonly [Member in keyof Required<Document>]: (before: Document, after: Document) => readonly Weaker[]
} = {
  apiVersion: () => [],
  kind: () => [],
  metadata: () => [],
  mode: ({ mode: was }, { mode: is }) => (was === 'enforce' && is === 'observe' ? [weaker('mode', was, is)] : []),
  on_incomplete: ({ on_incomplete: was }, { on_incomplete: is }) =>
    isLower(was, is) ? [weaker('on_incomplete', was, is)] : [],
  rules: ({ rules }, { rules: next }) => rules.flatMap((rule) => weakerRule(rule, next)),
  levels: weakerLevels,
  waivers: ({ waivers }, { waivers: next }) =>
    next
      .filter((waiver) => !waivers.some((known) => isDeepStrictEqual(known, waiver)))
      .map(({ id }) => weaker(`waivers.${id}`, 'absent, or another', 'in force')),
  freezes: ({ freezes = [] }, { freezes: next = [] }) =>
    freezes
      .filter((freeze) => !next.some((kept) => isDeepStrictEqual(kept, freeze)))
      .map(({ id }) => weaker(`freezes.${id}`, 'in force', 'absent, or another')),
  minimum_bump: (before, after) => keptWhole('minimum_bump', before.minimum_bump, after.minimum_bump),
  protected_consumers: (before, after) =>
    keptWhole('protected_consumers', before.protected_consumers, after.protected_consumers),
  fingerprint_binding: ({ fingerprint_binding: was = [] }, { fingerprint_binding: is = [] }) =>
    was
      .filter((operation) => !is.includes(operation))
      .map((operation) => weaker(`fingerprint_binding: ${operation}`, 'listed', 'not listed')),
  history: (before, after) => keptWhole('history', before.history, after.history),
  deprecation: ({ deprecation: was }, { deprecation: is }) =>
    (['stable_days', 'beta_days'] as const).flatMap((member) => {
      const [old, now] = [was?.[member] ?? 0, is?.[member] ?? 0]
      return now < old ? [weaker(`deprecation.${member}`, String(old), String(now))] : []
    }),
  ttl: ({ ttl: was }, { ttl: is }) => {
    const operations = new Set([...Object.keys(was.operations), ...Object.keys(is.operations)])
    const longer = [...operations].filter((name) => ttlOf(is, name) > ttlOf(was, name))
    return [
      ...(is.default > was.default ? [weaker('ttl.default', String(was.default), String(is.default))] : []),
      ...longer.map((name) => weaker(`ttl.operations.${name}`, String(ttlOf(was, name)), String(ttlOf(is, name)))),
    ]
  },
}

function ttlOf({ operations, default: otherwise }: Document['ttl'], name: string): number {
  return (Object.hasOwn(operations, name) ? operations[name] : undefined) ?? otherwise
}

function weakerDocument(before: Document, after: Document): readonly Weaker[] {
  return Object.values(MEMBERS).flatMap((compare) => compare(before, after))
}

function weakerRule(rule: PackRule, next: readonly PackRule[]): readonly Weaker[] {
  const path = `rules.${rule.id}`
  const found = next.find(({ id }) => id === rule.id)
  if (found === undefined) return rule.then === 'ALLOW' ? [] : [weaker(path, rule.then, 'gone')]
  const { then, mode } = rule
  return [
    ...(isLower(then, found.then) ? [weaker(`${path}.then`, then, found.then)] : []),
    ...(mode === 'enforce' && found.mode === 'observe' ? [weaker(`${path}.mode`, mode, 'observe')] : []),
    ...(rule.when.trim() === found.when.trim() ? [] : [weaker(`${path}.when`, rule.when, found.when)]),
    ...(rule.for === found.for ? [] : [weaker(`${path}.for`, rule.for ?? 'finding', found.for ?? 'finding')]),
    ...narrowed(`${path}.environments`, rule.environments, found.environments),
    ...narrowed(`${path}.operations`, rule.operations, found.operations),
    // Any member of one of the groups may approve: fewer groups are stricter, and none means anybody.
    ...weakerApproval(path, rule, found),
  ]
}

function weakerApproval(path: string, rule: PackRule, found: PackRule): readonly Weaker[] {
  const [before, after] = [requiredApproval(rule), requiredApproval(found)]
  const groupsOf = (required: typeof before) => (required?.groups.length ? required.groups : undefined)
  const [was, is] = [before?.count ?? 1, after?.count ?? 1]
  return [
    ...narrowed(`${path}.approvers`, groupsOf(after), groupsOf(before)),
    ...(is < was ? [weaker(`${path}.approvals`, String(was), String(is))] : []),
  ]
}

/** Absent means all of them. */
function narrowed(
  path: string,
  was: readonly string[] | undefined,
  is: readonly string[] | undefined,
): readonly Weaker[] {
  const isNarrower = is !== undefined && (was === undefined || was.some((name) => !is.includes(name)))
  return isNarrower ? [weaker(path, was?.join(', ') ?? 'all', is.join(', '))] : []
}

function weakerLevels({ levels: was }: Document, { levels: is }: Document): readonly Weaker[] {
  const rules = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...rules].flatMap((rule) => {
    const [old, now] = [was, is].map((levels) => (Object.hasOwn(levels, rule) ? levels[rule] : undefined))
    if (old === now) return []
    // Findings that were dropped now count; any other level may be one that no rule covers.
    return old === 'off' ? [] : [weaker(`levels.${rule}`, old ?? 'its own', now ?? 'its own')]
  })
}

function keptWhole(path: string, was: unknown, is: unknown): readonly Weaker[] {
  if (was === undefined || isDeepStrictEqual(was, is)) return []
  return [weaker(path, JSON.stringify(was), is === undefined ? 'absent' : JSON.stringify(is))]
}

function isLower(was: string, is: string): boolean {
  const ranks = STRICTEST_FIRST.map(String)
  return ranks.indexOf(is) > ranks.indexOf(was)
}

const LONGEST = 200

function weaker(path: string, before: string, after: string): Weaker {
  return { path: `policy.${path}`, before: before.slice(0, LONGEST), after: after.slice(0, LONGEST) }
}
