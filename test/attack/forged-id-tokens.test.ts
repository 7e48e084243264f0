/** ID tokens that a provider did not sign for this client and this sign-in: none of them signs a person in. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { suite, test, type TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import { createProviders, type SignInAttempt } from '../../gateway/callers/providers.ts'
import type { Provider } from '../../gateway/callers/settings.ts'
import { listening } from '../fakes/listening.ts'
import { at } from '../json.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

interface Token {
  readonly claims?: JWTPayload
  readonly alg?: string
  readonly key?: (keys: Keys) => Promise<Keys['privateKey'] | Uint8Array>
  /** Of the compact form. */
  readonly change?: (token: string) => string
}

const now = Math.floor(Date.now() / 1000)
const unsigned = (token: string): string => {
  const [, payload = ''] = token.split('.')
  return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
}

const FORGED: Readonly<Record<string, Token>> = {
  'signed by another key with the same id': { key: async () => (await generateKeyPair('RS256')).privateKey },
  'without a signature': { change: unsigned },
  'whose signature was cut off': { change: (token) => token.slice(0, token.lastIndexOf('.') + 1) },
  'whose subject was changed': {
    change: (token) => {
      const [head = '', payload = '', signature = ''] = token.split('.')
      const claims: object = JSON.parse(Buffer.from(payload, 'base64url').toString())
      return `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'boss' })).toString('base64url')}.${signature}`
    },
  },
  'signed with the public key as a secret': {
    alg: 'HS256',
    key: async ({ publicKey }) => Buffer.from(JSON.stringify(await exportJWK(publicKey))),
  },
  'signed with the secret of the client': {
    alg: 'HS256',
    key: () => Promise.resolve(Buffer.from('a-secret-of-the-console')),
  },
  'of another issuer': { claims: { iss: 'https://evil.example' } },
  'for another client': { claims: { aud: 'other' } },
  'for two clients, issued to the other one': { claims: { aud: ['console', 'other'], azp: 'other' } },
  'of another sign-in': { claims: { nonce: 'other' } },
  'without the nonce': { claims: { nonce: undefined } },
  'that has ended': { claims: { iat: now - 7200, exp: now - 3600 } },
  'that begins later': { claims: { nbf: now + 3600 } },
}

async function completions(t: TestContext, token: Token) {
  const keys = await generateKeyPair('RS256', { extractable: true })
  let attempt: SignInAttempt | null = null
  const server = createServer((request, response) => {
    const answer = async (): Promise<unknown> => {
      if (request.url?.startsWith('/.well-known/'))
        return {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          device_authorization_endpoint: `${issuer}/device`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        }
      if (request.url === '/jwks') return { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256' }] }
      const own = { iss: issuer, aud: 'console', sub: 'ana', iat: now, exp: now + 600, nonce: attempt?.nonce }
      const signed = await new SignJWT({ ...own, groups: ['approvers'], ...token.claims })
        .setProtectedHeader({ alg: token.alg ?? 'RS256', kid: 'k' })
        .sign(await (token.key?.(keys) ?? keys.privateKey))
      return { access_token: 'a', token_type: 'Bearer', id_token: token.change?.(signed) ?? signed }
    }
    void answer().then((body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)))
  })
  const issuer = await listening(t, server)
  const provider: Provider = {
    name: 'corp',
    title: 'Corp',
    issuer,
    client_id: 'console',
    client_secret: 'a-secret-of-the-console',
    scopes: ['openid'],
    groups_claim: 'groups',
    roles: [{ group: 'approvers', role: 'approver' }],
    tenant: 'local',
    session: 3600,
  }
  const providers = createProviders(Date.now)
  const callback = 'http://127.0.0.1:1/console/sign-in/corp/callback'
  const begun = await providers.begin(provider, callback, '/console')
  attempt = begun.attempt
  const answer = new URL(`${callback}?code=c&state=${begun.attempt.state}`)
  return {
    browser: () => providers.complete(provider, answer, begun.attempt),
    device: () => providers.completeDevice(provider, 'code'),
  }
}

/** A device begins without a nonce, and its token is for whoever has the code. */
const OF_BROWSER: ReadonlySet<string> = new Set(['of another sign-in', 'without the nonce'])

suite('an ID token', () => {
  test('of the provider signs its person in', async (t) => {
    const { browser, device } = await completions(t, {})
    assert.equal((await browser()).identity, 'oidc:corp:ana')
    assert.equal(at(await device(), 'identity'), 'oidc:corp:ana')
  })

  for (const [what, token] of Object.entries(FORGED))
    test(`${what} signs nobody in`, async (t) => {
      const { browser, device } = await completions(t, token)
      await assert.rejects(browser(), { code: 'FORBIDDEN' })
      if (!OF_BROWSER.has(what)) await assert.rejects(device(), { code: 'FORBIDDEN' })
    })
})
