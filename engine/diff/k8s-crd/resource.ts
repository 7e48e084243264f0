/**
 * One resource on both sides, without its schemas: scope, names, versions, conversion, subresources, columns,
 * selectable fields.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { Crd, CrdVersion } from '../../contracts/k8s-crd/contract.ts'
import type { CrdRuleId } from '../../rules/k8s-crd/rows.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, locatedItems, memberOf, recordOf, type JsonRecord, type Located } from '../../schema/located.ts'
import type { ContractChange } from '../contract-walk.ts'

/** Reports a change of the resource. The resource name comes before the subject. */
export type AddCrdChange = (change: Omit<ContractChange<CrdRuleId>, 'endpoint'>) => void

export function compareResource(base: Crd, head: Crd, add: AddCrdChange): void {
  compareScopeAndGroup(base, head, add)
  compareResourceNames(base, head, add)
  comparePreservedFields(base, head, add)
  compareConversion(base, head, add)
  compareVersionLists(base, head, add)
}

function compareScopeAndGroup({ spec: base }: Crd, { spec: head }: Crd, add: AddCrdChange): void {
  for (const [member, rule] of [
    ['scope', 'crd-scope-changed'],
    ['group', 'crd-group-changed'],
  ] as const) {
    const [before, after] = [memberOf(base, member), memberOf(head, member)]
    if (before === null || after === null || before.value === after.value) continue
    add({ rule, subject: member, side: 'head', located: after, before: before.value, after: after.value })
  }
}

/** The place of a changed member: in the head, or in the base when the head has none. */
function changedSide(base: Located, head: Located | null) {
  return head === null ? ({ side: 'base', located: base } as const) : ({ side: 'head', located: head } as const)
}

const PRESERVED = 'preserveUnknownFields'

/** v1beta1 could keep the unknown fields of all versions. */
function comparePreservedFields(base: Crd, head: Crd, add: AddCrdChange): void {
  const [before, after] = [keepsUnknownFields(base), keepsUnknownFields(head)]
  if (before === after) return
  const [member, baseMember, headMember] = [PRESERVED, memberOf(base.spec, PRESERVED), memberOf(head.spec, PRESERVED)]
  const place = changedSide(baseMember ?? base.spec, headMember)
  const rule = after ? 'crd-unknown-fields-preserved' : 'crd-unknown-fields-pruned'
  add({ ...place, rule, subject: member, before, after })
}

/** True by default in v1beta1, false in v1. */
function keepsUnknownFields({ spec, isBeta }: Crd): boolean {
  const stated = memberOf(spec, PRESERVED)?.value ?? null
  return stated === null ? isBeta : stated === true
}

/** The names that the API server fills in when they are absent. */
const IMPLIED: Readonly<Record<string, (kind: string) => string>> = lookupTable({
  singular: (kind) => kind.toLowerCase(),
  listKind: (kind) => `${kind}List`,
})

function compareResourceNames({ spec: base }: Crd, { spec: head }: Crd, add: AddCrdChange): void {
  const [baseNames, headNames] = [memberOf(base, 'names'), memberOf(head, 'names')]
  if (!isRecord(baseNames?.value) || !isRecord(headNames?.value) || headNames === null) return
  for (const member of ['kind', 'plural', 'singular', 'listKind']) {
    const [before, after] = [effectiveName(baseNames.value, member), effectiveName(headNames.value, member)]
    if (before === after || before === null) continue
    const located = memberOf(headNames, member) ?? headNames
    add({ rule: 'crd-name-changed', subject: member, name: member, side: 'head', located, before, after })
  }
  for (const [member, rule] of NAME_LISTS)
    compareNameLists(textItems(baseNames, member), textItems(headNames, member), rule, add)
}

function effectiveName(names: JsonRecord, member: string): string | null {
  const { kind } = names
  const stated = names[member]
  if (typeof stated === 'string' && stated !== '') return stated
  return typeof kind === 'string' ? (IMPLIED[member]?.(kind) ?? null) : null
}

const NAME_LISTS = [
  ['shortNames', 'crd-short-name'],
  ['categories', 'crd-category'],
] as const

function compareNameLists(
  base: ReadonlyMap<string, Located>,
  head: ReadonlyMap<string, Located>,
  rule: 'crd-short-name' | 'crd-category',
  add: AddCrdChange,
): void {
  for (const [name, located] of base)
    if (!head.has(name)) add({ rule: `${rule}-removed`, subject: name, name, side: 'base', located, before: name })
  for (const [name, located] of head)
    if (!base.has(name)) add({ rule: `${rule}-added`, subject: name, name, side: 'head', located, after: name })
}

function textItems(owner: Located, member: string): ReadonlyMap<string, Located> {
  const items = locatedItems(memberOf(owner, member))
  return new Map(items.flatMap((item) => (typeof item.value === 'string' ? [[item.value, item] as const] : [])))
}

function compareConversion(base: Crd, head: Crd, add: AddCrdChange): void {
  const [baseConversion, headConversion] = [memberOf(base.spec, 'conversion'), memberOf(head.spec, 'conversion')]
  const [before, after] = [strategyOf(baseConversion), strategyOf(headConversion)]
  const place = { ...changedSide(baseConversion ?? base.spec, headConversion), subject: 'conversion' }
  if (before !== after) add({ ...place, rule: 'crd-conversion-changed', before, after })
  else if (after === 'Webhook') compareWebhooks(base, head, place, add)
}

function compareWebhooks(
  before: Crd,
  after: Crd,
  place: Omit<Parameters<AddCrdChange>[0], 'rule'>,
  add: AddCrdChange,
): void {
  const [base, head] = [withWebhookDefaults(conversionAsInV1(before)), withWebhookDefaults(conversionAsInV1(after))]
  if (!isEqual(base.webhook, head.webhook)) {
    const values = {
      before: memberOf(before.spec, 'conversion')?.value,
      after: memberOf(after.spec, 'conversion')?.value,
    }
    add({ ...place, rule: 'crd-conversion-webhook-changed', ...values })
  } else if (base.caBundle !== head.caBundle) add({ ...place, rule: 'crd-conversion-ca-bundle-changed' })
}

/** The default port of a ServiceReference of apiextensions.k8s.io/v1. */
const HTTPS_PORT = 443

interface ConversionWebhook {
  readonly webhook: unknown
  /** The certificates by which the API server knows the webhook. A cluster issues them, and renews them. */
  readonly caBundle: string
}

/** v1beta1 writes the members of the webhook beside the strategy, and has a default for the versions of reviews. */
function conversionAsInV1({ spec, isBeta }: Crd): unknown {
  const conversion = memberOf(spec, 'conversion')?.value
  if (!isBeta || !isRecord(conversion)) return conversion
  const { webhookClientConfig: clientConfig, conversionReviewVersions = ['v1beta1'], ...rest } = conversion
  return { ...rest, webhook: { clientConfig, conversionReviewVersions } }
}

function withWebhookDefaults(conversion: unknown): ConversionWebhook {
  const { webhook } = recordOf(conversion)
  if (!isRecord(conversion) || !isRecord(webhook) || !isRecord(webhook['clientConfig']))
    return { webhook: conversion, caBundle: '' }
  const { caBundle, service, ...client } = webhook['clientConfig']
  const called = {
    ...client,
    service: isRecord(service) ? { port: HTTPS_PORT, ...service } : service,
    // The API server refuses certificates that are no text.
    ...(typeof (caBundle ?? '') !== 'string' && { caBundle }),
  }
  return {
    webhook: { ...conversion, webhook: { ...webhook, clientConfig: called } },
    caBundle: typeof caBundle === 'string' ? caBundle : '',
  }
}

/** The conversion strategy between versions. `None` changes the apiVersion only. */
export function conversionOf({ spec }: Crd): string {
  return strategyOf(memberOf(spec, 'conversion'))
}

function strategyOf(conversion: Located | null): string {
  const stated = isRecord(conversion?.value) ? conversion.value['strategy'] : undefined
  return typeof stated === 'string' ? stated : 'None'
}

function compareVersionLists(base: Crd, head: Crd, add: AddCrdChange): void {
  for (const name of [...new Set([...base.versions.keys(), ...head.versions.keys()])].sort(byCodeUnit)) {
    const [before, after] = [base.versions.get(name), head.versions.get(name)]
    if (before === undefined && after !== undefined) {
      add({ rule: 'crd-version-added', subject: name, name, side: 'head', located: after.located, after: name })
    } else if (before !== undefined && after === undefined) {
      const rule = before.isServed ? 'crd-version-removed' : 'crd-version-retired'
      add({ rule, subject: name, name, side: 'base', located: before.located, before: name })
    } else if (before !== undefined && after !== undefined) compareVersionLifecycle(before, after, add)
  }
  const [before, after] = [base, head].map(storedNames)
  if (before === after) return
  const stored = storedIn(head)
  const located = stored === null ? head.spec : (memberOf(stored.located, 'storage') ?? stored.located)
  add({ rule: 'crd-storage-version-changed', subject: 'storage', side: 'head', located, before, after })
}

/** The API server refuses a definition unless it is one. */
function storedNames({ versions }: Crd): string {
  const names = [...versions.values()].flatMap(({ name, isStored }) => (isStored ? [name] : []))
  return names.sort(byCodeUnit).join(', ') || 'no version'
}

export function storedIn({ versions }: Crd): CrdVersion | null {
  return [...versions.values()].find(({ isStored }) => isStored) ?? null
}

function compareVersionLifecycle(base: CrdVersion, head: CrdVersion, add: AddCrdChange): void {
  const { name } = head
  const emit = (member: string, rule: CrdRuleId, before: boolean, after: boolean): void => {
    const located = memberOf(head.located, member) ?? head.located
    add({ rule, subject: name, name, side: 'head', located, before, after })
  }
  if (base.isServed !== head.isServed) {
    emit('served', head.isServed ? 'crd-version-served' : 'crd-version-not-served', base.isServed, head.isServed)
  }
  if (base.isDeprecated !== head.isDeprecated) {
    const rule = head.isDeprecated ? 'crd-version-deprecated' : 'crd-version-reactivated'
    emit('deprecated', rule, base.isDeprecated, head.isDeprecated)
  }
}

/** Compares the parts of one version other than its schema. */
export function compareVersionParts(before: CrdVersion, after: CrdVersion, add: AddCrdChange): void {
  compareSubresources(before, after, add)
  const columns = [keyed(before.printerColumns, 'name'), keyed(after.printerColumns, 'name')] as const
  compareKeyed(...columns, 'crd-printer-column', add)
  const fields = [keyed(before.selectableFields, 'jsonPath'), keyed(after.selectableFields, 'jsonPath')] as const
  compareKeyed(...fields, 'crd-selectable-field', add)
}

function compareSubresources(before: CrdVersion, after: CrdVersion, add: AddCrdChange): void {
  for (const member of ['status', 'scale'] as const) {
    const [base, head] = [subresource(before, member), subresource(after, member)]
    if (base && !head) {
      const rule = `crd-${member}-subresource-removed` as const
      add({ rule, subject: member, side: 'base', located: base, before: base.value })
    } else if (!base && head) {
      const rule = `crd-${member}-subresource-added` as const
      add({ rule, subject: member, side: 'head', located: head, after: head.value })
    } else if (base && head && member === 'scale' && !isEqual(statedPaths(base), statedPaths(head))) {
      const values = { before: base.value, after: head.value }
      add({ rule: 'crd-scale-subresource-changed', subject: member, side: 'head', located: head, ...values })
    }
  }
}

/** An empty path is none. */
function statedPaths({ value }: Located): unknown {
  return Object.fromEntries(Object.entries(recordOf(value)).filter(([, path]) => path !== '' && path !== null))
}

/** The API server reads null as an absent member. */
function subresource({ subresources }: CrdVersion, member: 'status' | 'scale'): Located | null {
  const held = subresources === null ? null : memberOf(subresources, member)
  return held === null || held.value === null ? null : held
}

function compareKeyed(
  base: ReadonlyMap<string, Located>,
  head: ReadonlyMap<string, Located>,
  rule: 'crd-printer-column' | 'crd-selectable-field',
  add: AddCrdChange,
): void {
  for (const [name, located] of base) {
    if (head.has(name)) continue
    add({ rule: `${rule}-removed`, subject: name, name, side: 'base', located, before: located.value })
  }
  for (const [name, located] of head) {
    const known = base.get(name)
    if (known === undefined) {
      add({ rule: `${rule}-added`, subject: name, name, side: 'head', located, after: located.value })
    } else if (rule === 'crd-printer-column' && !isEqual(known.value, located.value)) {
      const values = { before: known.value, after: located.value }
      add({ rule: 'crd-printer-column-changed', subject: name, name, side: 'head', located, ...values })
    }
  }
}

/** v1beta1 writes `JSONPath`. */
function keyed(list: Located | null, key: string): ReadonlyMap<string, Located> {
  const found = new Map<string, Located>()
  for (const item of locatedItems(list)) {
    if (!isRecord(item.value)) continue
    const { JSONPath, ...rest } = item.value
    const value: JsonRecord = { priority: 0, ...rest, ...(JSONPath === undefined ? {} : { jsonPath: JSONPath }) }
    const name = value[key]
    if (typeof name === 'string') found.set(name, { ...item, value })
  }
  return found
}
