/** An OAuth client that keeps its state in memory, and whose user agrees to everything immediately. */
import type { OAuthClientProvider } from '@modelcontextprotocol/client'

type Information = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>
type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>
type Discovered = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0]

export interface AgreeingUser {
  readonly provider: OAuthClientProvider
  /** What the authorization server has sent the user back with; null: nothing was asked. */
  takeAnswer(): URLSearchParams | null
}

export interface AgreeingUserOptions {
  /** Of a client that is known to the server beforehand. */
  readonly registered?: Information
  /** Address of a document about the client, which stands for its id. */
  readonly document?: string
}

const REDIRECT = 'http://127.0.0.1:9/callback'

export function agreeingUser({ registered, document }: AgreeingUserOptions = {}): AgreeingUser {
  let information = registered
  let tokens: Tokens | undefined
  let verifier = ''
  let discovered: Discovered | undefined
  let answer: URLSearchParams | null = null
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'agent',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    ...(document === undefined ? {} : { clientMetadataUrl: document }),
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given
    },
    saveCodeVerifier: (given) => {
      verifier = given
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (given) => {
      discovered = given
    },
    discoveryState: () => discovered,
    async redirectToAuthorization(url) {
      const agreed = await fetch(url, { redirect: 'manual' })
      const back = agreed.headers.get('location')
      if (back === null) throw new Error(`the authorization server answered ${agreed.status} and sent nobody back`)
      answer = new URL(back).searchParams
    },
    invalidateCredentials: (which) => {
      if (which === 'all' || which === 'tokens') tokens = undefined
      if ((which === 'all' || which === 'client') && registered === undefined) information = undefined
    },
  }
  return {
    provider,
    takeAnswer() {
      const taken = answer
      answer = null
      return taken
    },
  }
}
