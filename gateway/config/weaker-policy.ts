/**
 * Finds what a policy enforces less than the previous one. The strictest rule wins, so an additional rule weakens nothing: a
 * pack is at least as strict as another one when it contains each of its rules. A change that cannot be shown to be as strict
 * counts as weaker.
 */
import { isDeepStrictEqual } from 'node:util'
import { DEFAULT_HISTORY_SECONDS, requiredApproval } from '../../engine/base.ts'
import type { CompiledPolicy } from '../../engine/internal.ts'
import type { Enforced, Weaker } from './enforced.ts'

/** Shipped packs, each stricter than the previous one. */
const SHIPPED = ['strict', 'default', 'observe'] as const

type Document = CompiledPolicy['document']
type PackRule = Document['rules'][number]

const STRICTEST_FIRST = ['BLOCK', 'REQUIRE_APPROVAL', 'WARN', 'ALLOW'] as const

export function weakerPolicy(before: Enforced, after: Enforced): readonly Weaker[] {
  if (before.policy.hash === after.policy.hash) return []
  const [base, head] = [before, after].map(({ config }) => SHIPPED.findIndex((name) => name === config.policy))
  // A file may contain the name of a shipped pack; the name in the configuration counts.
  if (base !== undefined && head !== undefined && base !== head && base !== -1 && head !== -1)
    return head > base ? [{ path: 'policy', before: before.config.policy, after: after.config.policy }] : []
  return weakerDocument(before.policy.document, after.policy.document)
}

/** Every member of a pack, with its comparison; a member without a row does not compile. */
const MEMBERS: {
  readonly [Member in keyof Required<Document>]: (before: Document, after: Document) => readonly Weaker[]
} = {
  apiVersion: () => [],
  kind: () => [],
  metadata: () => [],
  mode: ({ mode: before }, { mode: after }) =>
    before === 'enforce' && after === 'observe' ? [weaker('mode', before, after)] : [],
  on_incomplete: ({ on_incomplete: before }, { on_incomplete: after }) =>
    isLower(before, after) ? [weaker('on_incomplete', before, after)] : [],
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
  fingerprint_binding: ({ fingerprint_binding: before = [] }, { fingerprint_binding: after = [] }) =>
    before
      .filter((operation) => !after.includes(operation))
      .map((operation) => weaker(`fingerprint_binding: ${operation}`, 'listed', 'not listed')),
  // More counted decisions may be stricter or weaker: it depends on the condition.
  history: (before, after) => {
    const [base, head] = [before, after].map(({ history }) => history?.window ?? DEFAULT_HISTORY_SECONDS)
    const isRead = before.history !== undefined || before.rules.some(({ when }) => /\bhistory\b/.test(when))
    return isRead && base !== head ? [weaker('history.window', String(base), String(head))] : []
  },
  deprecation: ({ deprecation: base }, { deprecation: head }) =>
    (['stable_days', 'beta_days'] as const).flatMap((member) => {
      const [before, after] = [base?.[member] ?? 0, head?.[member] ?? 0]
      return after < before ? [weaker(`deprecation.${member}`, String(before), String(after))] : []
    }),
  ttl: ({ ttl: before }, { ttl: after }) => {
    const operations = new Set([...Object.keys(before.operations), ...Object.keys(after.operations)])
    const longer = [...operations].filter((name) => statedTtl(after, name) > statedTtl(before, name))
    return [
      ...(after.default > before.default ? [weaker('ttl.default', String(before.default), String(after.default))] : []),
      ...longer.map((name) =>
        weaker(`ttl.operations.${name}`, String(statedTtl(before, name)), String(statedTtl(after, name))),
      ),
    ]
  },
}

function statedTtl({ operations, default: otherwise }: Document['ttl'], name: string): number {
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
    ...narrowedList(`${path}.environments`, rule.environments, found.environments),
    ...narrowedList(`${path}.operations`, rule.operations, found.operations),
    // Any member of one of the groups may approve: fewer groups are stricter, and none means anybody.
    ...weakerApproval(path, rule, found),
  ]
}

function weakerApproval(path: string, rule: PackRule, found: PackRule): readonly Weaker[] {
  const [before, after] = [requiredApproval(rule), requiredApproval(found)]
  const groupsOf = (required: typeof before) => (required?.groups.length ? required.groups : undefined)
  const [base, head] = [before?.count ?? 1, after?.count ?? 1]
  return [
    ...narrowedList(`${path}.approvers`, groupsOf(after), groupsOf(before)),
    ...(head < base ? [weaker(`${path}.approvals`, String(base), String(head))] : []),
  ]
}

/** Absent means all of them. */
function narrowedList(
  path: string,
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
): readonly Weaker[] {
  const isNarrower = after !== undefined && (before === undefined || before.some((name) => !after.includes(name)))
  return isNarrower ? [weaker(path, before?.join(', ') ?? 'all', after.join(', '))] : []
}

function weakerLevels({ levels: base }: Document, { levels: head }: Document): readonly Weaker[] {
  const rules = new Set([...Object.keys(base), ...Object.keys(head)])
  return [...rules].flatMap((rule) => {
    const [before, after] = [base, head].map((levels) => (Object.hasOwn(levels, rule) ? levels[rule] : undefined))
    if (before === after) return []
    // Findings that were dropped now count; any other level may be one that no rule covers.
    return before === 'off' ? [] : [weaker(`levels.${rule}`, before ?? 'its own', after ?? 'its own')]
  })
}

function keptWhole(path: string, before: unknown, after: unknown): readonly Weaker[] {
  if (before === undefined || isDeepStrictEqual(before, after)) return []
  return [weaker(path, JSON.stringify(before), after === undefined ? 'absent' : JSON.stringify(after))]
}

function isLower(before: string, after: string): boolean {
  const ranks = STRICTEST_FIRST.map(String)
  return ranks.indexOf(after) > ranks.indexOf(before)
}

const LONGEST = 200

function weaker(path: string, before: string, after: string): Weaker {
  return { path: `policy.${path}`, before: before.slice(0, LONGEST), after: after.slice(0, LONGEST) }
}
