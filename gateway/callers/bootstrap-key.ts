/**
 * The first API key of an empty store (docs/reference/command-line.md#start): the operator's own, or one that is
 * created and shown once.
 */
import { StartupError } from '../errors/startup-error.ts'
import type { Store } from '../store/store.ts'
import { apiKeyRow, BOOTSTRAP_KEY_MINIMUM, hashApiKey, mintApiKey } from './api-keys.ts'

interface Bootstrap {
  /** The key to show once; null when there was one already or the operator supplied it. */
  readonly printed: string | null
  /** For people, when something that they asked for was not done. */
  readonly warning: string | null
}

/**
 * Creates the admin key of an empty store. A store with keys ignores a bootstrap key: a revoked key must not come back
 * with a restart.
 */
export async function bootstrapKey(store: Store, own: string | null, at: number): Promise<Bootstrap> {
  if (own !== null) requireUsableBootstrapKey(own)
  const existing = await store.apiKeys.list()
  if (existing.length > 0) {
    const isKnown = own === null || existing.some(({ hash }) => hash === hashApiKey(own))
    return { printed: null, warning: isKnown ? null : IGNORED }
  }
  const key = own ?? mintApiKey()
  try {
    await store.apiKeys.create(apiKeyRow({ key, name: 'bootstrap', role: 'admin', at }))
  } catch (error) {
    // Another gateway that starts on the same store may have been first with the same key.
    if (!(await store.apiKeys.list()).some(({ hash }) => hash === hashApiKey(key))) throw error
  }
  return { printed: own === null ? key : null, warning: null }
}

const IGNORED =
  'PREFLIGHT_BOOTSTRAP_KEY is not a key of this store and was ignored: it only sets the first key of an empty store. ' +
  'Create further keys with `preflight keys create`.'

/** Throws a StartupError for a key that can be guessed or that a header cannot carry. */
export function requireUsableBootstrapKey(key: string): void {
  if (key.length >= BOOTSTRAP_KEY_MINIMUM && /^[\x21-\x7e]+$/.test(key)) return
  throw new StartupError(
    `PREFLIGHT_BOOTSTRAP_KEY must have at least ${BOOTSTRAP_KEY_MINIMUM} visible ASCII characters and no spaces, ` +
      'e.g. the output of: openssl rand -hex 32',
  )
}
