/** Names of those who ask and decide: keys by their audience. */
import type { StorePart } from '../store/store.ts'

/** Audience → name of the key. */
export type Holders = ReadonlyMap<string, string>

/** Of the tenant only: names of other tenants' keys are not shown. */
export async function holders(tenant: string, store: StorePart<'apiKeys.list'>): Promise<Holders> {
  const keys = await store.apiKeys.list()
  return new Map(keys.filter((key) => key.tenant === tenant).map(({ audience, name }) => [audience, name]))
}

/** `release bot (v:0123456789ab)`; the identity alone when it has no name. */
export function personName(identity: string, names: Holders): string {
  const name = names.get(identity)
  return name === undefined ? identity : `${name} (${identity})`
}
