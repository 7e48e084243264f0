/** Tokens of an installed GitHub App: short-lived, for one repository and one purpose. https://docs.github.com/apps */
import { createPrivateKey } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../errors/errors.ts'
import { at, requiredTextAt } from './members.ts'
import type { ScmTransport } from './transport.ts'
import { loadRegularFile } from '../runtime/regular-file.ts'

/** Configuration `scm.github.app`. */
interface GithubApp {
  readonly id: string
  readonly key_file: string
}

/** Only what each purpose takes, whatever the app may do elsewhere. */
const PERMISSIONS = {
  read: { contents: 'read', pull_requests: 'read' },
  report: { checks: 'write' },
} as const

interface AppTokens {
  /** @param connect a transport with this value of Authorization. Rejects with a ScmError, or REPOSITORY_INACCESSIBLE when the key is none. */
  tokenFor(
    app: GithubApp,
    repository: string,
    purpose: keyof typeof PERMISSIONS,
    connect: (authorization: string) => ScmTransport,
  ): Promise<string>
}

const MAX_TOKENS = 1000
/** Not used any more when it ends this soon. */
const MARGIN_MS = 5 * 60_000
/** The platform accepts at most ten minutes; its clock may differ. */
const JWT_SECONDS = 540
const CLOCK_SECONDS = 60

export function createAppTokens(now: () => number): AppTokens {
  const known = new LRUCache<string, { readonly token: string; readonly until: number }>({ max: MAX_TOKENS })
  return {
    async tokenFor(app, repository, purpose, connect) {
      const key = `${purpose} ${app.id} ${repository.toLowerCase()}`
      const held = known.get(key)
      if (held !== undefined && now() < held.until - MARGIN_MS) return held.token
      const platform = connect(`Bearer ${await appJwt(app, Math.floor(now() / 1000))}`)
      const installation = await platform.json(await platform.get(`/repos/${repository}/installation`))
      const issued = await platform.send('POST', `/app/installations/${String(at(installation, 'id'))}/access_tokens`, {
        repositories: [repository.split('/')[1]],
        permissions: PERMISSIONS[purpose],
      })
      const made = await platform.json(issued)
      const token = requiredTextAt(made, 'token')
      known.set(key, { token, until: Date.parse(requiredTextAt(made, 'expires_at')) })
      return token
    },
  }
}

async function appJwt({ id, key_file: file }: GithubApp, now: number): Promise<string> {
  // Loaded where an app is configured only.
  const { SignJWT } = await import('jose/jwt/sign')
  try {
    return await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(id)
      .setIssuedAt(now - CLOCK_SECONDS)
      .setExpirationTime(now + JWT_SECONDS)
      .sign(createPrivateKey((await loadRegularFile(file)).toString('utf8')))
  } catch (error) {
    throw new GatewayError(
      'REPOSITORY_INACCESSIBLE',
      'The key of the GitHub App cannot sign (scm.github.app.key_file).',
      {
        cause: error,
      },
    )
  }
}
