/** Whether a tenant's control over a repository is proven (docs/reference/api.md#bindings). */
import type { BindingRow } from '../store/bindings.ts'
import type { StorePart } from '../store/store.ts'
import type { PlatformId } from './platform.ts'

/** Names of repositories differ by case in no platform. */
export function sameRepository(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/**
 * The binding of a repository, or null when none is proven. Without a platform it is found by the name alone, and only where
 * the name identifies one repository. The platform is never guessed.
 */
export async function bindingOf(
  store: StorePart<'bindings.list'>,
  tenant: string,
  repository: string,
  platform: PlatformId | null,
): Promise<BindingRow | null> {
  const [only, ...others] = (await store.bindings.list(tenant)).filter(
    (row) => sameRepository(row.repository, repository) && (platform === null || row.platform === platform),
  )
  return only !== undefined && others.length === 0 ? only : null
}

/** ISO 8601 UTC. */
export function provenAt({ provenAt: at }: BindingRow): string {
  return new Date(at).toISOString()
}
