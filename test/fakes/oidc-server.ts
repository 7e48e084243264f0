/** A real OpenID provider on loopback, with people and their groups. Any password signs in. */
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { Provider } from 'oidc-provider'
import { listening } from './listening.ts'

export interface OidcServer {
  readonly issuer: string
  /** Lets a client come back to this address. */
  readonly allow: (...addresses: readonly string[]) => void
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** @param people name → groups */
export async function startOidcServer(
  t: TestContext,
  people: Readonly<Record<string, readonly string[]>>,
): Promise<OidcServer> {
  let handle: ReturnType<Provider['callback']> | null = null
  const server = createServer((request, response) => void handle?.(request, response))
  const issuer = await listening(t, server)
  const callbacks: string[] = []
  const open = (): void => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: 'console',
          client_secret: 'a-secret-of-the-console',
          redirect_uris: callbacks,
          token_endpoint_auth_method: 'client_secret_post',
          grant_types: ['authorization_code', DEVICE_GRANT],
        },
      ],
      features: { deviceFlow: { enabled: true } },
      claims: { openid: ['sub'], profile: ['name', 'groups'] },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: () => ({ sub: id, name: id, groups: [...(people[id] ?? [])] }),
      }),
    })
    handle = provider.callback()
  }
  return {
    issuer,
    allow(...addresses) {
      callbacks.push(...addresses)
      open()
    },
  }
}
