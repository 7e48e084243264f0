/** What the schema cannot say of sign-in: the address that people come back to, and names twice. */
import { isLoopback } from '../network/listen-address.ts'
import { at } from '../settings/mistake-collector.ts'
import type { AddressConfig } from '../settings/public-address.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import type { ConsoleConfig } from './settings.ts'

export function checkSignIn({
  console: { enabled, providers },
  public_url: publicUrl,
}: ConsoleConfig & AddressConfig): readonly LocatedMistake[] {
  const hasConsolePages = publicUrl !== undefined && URL.canParse(publicUrl) && new URL(publicUrl).pathname === '/'
  return [
    ...(enabled && providers.length > 0 && !hasConsolePages
      ? [
          at(
            publicUrl === undefined ? '/console/providers' : '/public_url',
            'the provider sends people back to the address in public_url, which is absent or has a path',
            'set public_url to the origin that browsers use, for example https://preflight.example.org',
          ),
        ]
      : []),
    ...providers.flatMap(({ name, issuer }, index) => {
      const pointer = `/console/providers/${index}`
      const first = providers.findIndex((one) => one.name === name)
      return [
        ...(first === index
          ? []
          : [at(`${pointer}/name`, `is the name of providers[${first}] too`, 'give each provider a name')]),
        ...(isIssuer(issuer) ? [] : [at(`${pointer}/issuer`, 'must be an https address', 'http is for loopback only')]),
      ]
    }),
  ]
}

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopback(hostname)
}
