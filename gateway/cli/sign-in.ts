/** `preflight login`, `logout` and `whoami`: a person at a command line, signed in with the provider of a running gateway. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Static } from 'typebox'
import {
  beginSignIn,
  completeSignIn,
  DeviceAnswer,
  listProviders,
  ProvidersAnswer,
  SignInAnswer,
  signOut,
  SignOutAnswer,
  whoAmI,
  WhoAmIAnswer,
} from '../api/routes/sign-in.ts'
import { printable } from '../report/printable.ts'
import { columns, EXIT, UsageError, type Command } from './command.ts'
import { LIST_FORMAT, secondsOf, show } from './format.ts'
import { gatewayClient, type GatewayClient } from './gateway-client.ts'
import { writeLine } from './io.ts'
import { gatewayAddress, gatewayOf, GATEWAY_OPTIONS, URL_OPTION } from './remote.ts'
import { forgetSession, keepSession, sessionAt } from './session-file.ts'

export const loginCommand: Command = {
  name: 'login',
  summary: 'Sign in to a running gateway with its OpenID Connect provider.',
  operands: '',
  operandCount: [0, 0],
  options: [
    URL_OPTION,
    { name: 'provider', value: 'NAME', help: 'Provider of the gateway; required where it has several.' },
  ],
  notes:
    'Open the address on any device and confirm the code. The key of the session is kept in a file of this user\n' +
    '(PREFLIGHT_HOME, else ~/.preflight; mode 600) until it ends, and used by commands with the same --url.',
  run: async (args, io) => {
    const url = gatewayAddress(args, io)
    const gateway = gatewayClient({ url, key: null })
    const provider = await providerOf(gateway, args.value('provider'))
    const begun = await gateway.ask(beginSignIn, DeviceAnswer, { body: { provider } })
    writeLine(io.stderr, `Open ${printable(begun.verification_uri_complete ?? begun.verification_uri)}`)
    writeLine(io.stderr, `and confirm the code ${printable(begun.user_code)}. Waiting…`)
    const made = await confirmed(gateway, provider, begun)
    const { name, role, groups, expires_at: end } = made.key
    keepSession(io.environment, { origin: gateway.origin, key: made.apiKey, expires_at: end })
    const until = end === null ? '' : `, until ${secondsOf(end)}`
    writeLine(
      io.stdout,
      printable(`signed in as ${name}: ${role}${groups.length === 0 ? '' : `, ${groups.join(', ')}`}${until}`),
    )
    return EXIT.good
  },
}

export const logoutCommand: Command = {
  name: 'logout',
  summary: 'End the session of preflight login.',
  operands: '',
  operandCount: [0, 0],
  options: [URL_OPTION],
  notes:
    'The gateway revokes the key. It is removed from the file of this user.\nExit codes: 0 ended, 1 there was none.',
  run: async (args, io) => {
    const url = gatewayAddress(args, io)
    const { origin } = gatewayClient({ url, key: null })
    const session = sessionAt(io.environment, origin)
    forgetSession(io.environment, origin)
    if (session === null) {
      writeLine(io.stderr, `nobody is signed in to ${origin}`)
      return EXIT.no
    }
    try {
      await gatewayClient({ url, key: session.key }).ask(signOut, SignOutAnswer)
    } catch (error) {
      // It has ended, so there is nothing left to revoke.
      if (!(error instanceof UsageError)) throw error
    }
    writeLine(io.stdout, `signed out of ${origin}`)
    return EXIT.good
  },
}

export const whoamiCommand: Command = {
  name: 'whoami',
  summary: 'Show whom the key belongs to, and what it may do.',
  operands: '',
  operandCount: [0, 0],
  options: [LIST_FORMAT, ...GATEWAY_OPTIONS],
  run: async (args, io) => {
    const gateway = gatewayOf(args, io)
    const { correlation_id: _, ...holder } = await gateway.ask(whoAmI, WhoAmIAnswer)
    show(args, io, { gateway: gateway.origin, ...holder }, (view) =>
      columns(
        Object.entries(view).flatMap(([name, value]) => {
          const text = Array.isArray(value) ? value.join(', ') : (value ?? '')
          return text === '' ? [] : [[name.replaceAll('_', ' '), printable(text)] as const]
        }),
      ).join('\n'),
    )
    return EXIT.good
  },
}

async function providerOf(gateway: GatewayClient, named: string | undefined): Promise<string> {
  const { providers } = await gateway.ask(listProviders, ProvidersAnswer)
  const names = providers.map(({ name }) => name)
  const [first] = names
  if (first === undefined)
    throw new UsageError('the gateway has no provider to sign in with (console.providers); use an API key')
  if (named === undefined && names.length === 1) return first
  if (named !== undefined && names.includes(named)) return named
  throw new UsageError(`name a provider of the gateway: --provider ${names.join(' | ')}`)
}

type Key = NonNullable<Static<typeof SignInAnswer>['key']>

/** Asks until the person has confirmed the code, at the pace of the provider. Throws the refusal of the gateway. */
async function confirmed(
  gateway: GatewayClient,
  provider: string,
  { device_code, interval, expires_in }: Static<typeof DeviceAnswer>,
): Promise<{ readonly apiKey: string; readonly key: Key }> {
  const end = performance.now() + expires_in * 1000
  for (let seconds = interval; performance.now() < end;) {
    await pause(seconds * 1000)
    const body = { provider, device_code }
    const { state, api_key: apiKey, key } = await gateway.ask(completeSignIn, SignInAnswer, { body })
    if (state === 'signed_in' && apiKey !== null && key !== null) return { apiKey, key }
    if (state === 'slow_down') seconds += SLOWER
  }
  throw new Error('nobody confirmed the code in time; start again')
}

/** RFC 8628 §3.5. */
const SLOWER = 5
