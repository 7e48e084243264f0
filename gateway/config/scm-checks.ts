/** What a schema cannot say of source control: files that are not there, addresses that are none, and ways around a merge. */
import type { RouteConfig } from './route.ts'
import type { Config } from './schema.ts'
import type { Located } from '../settings/schema-mistakes.ts'
import { checkRsaKey } from './certificate-checks.ts'
import { at } from '../settings/mistake-collector.ts'

export function checkScm({ scm }: Config): readonly Located[] {
  const { github, gitlab, bitbucket, contracts } = scm
  const addresses = Object.entries({ github, gitlab, bitbucket }).flatMap(([name, { api }]) =>
    URL.canParse(api) ? [] : [at(`/scm/${name}/api`, `${api} is not a URL`, 'write http(s)://HOST[:PORT][/PATH]')],
  )
  return [
    ...addresses,
    ...(github.app === undefined ? [] : checkRsaKey('/scm/github/app/key_file', github.app.key_file)),
    ...(contracts.globs.some((glob) => !glob.startsWith('!'))
      ? []
      : [
          at(
            '/scm/contracts/globs',
            'no glob says what is a contract, so nothing would be judged',
            'add one, e.g. "**/*.yaml"',
          ),
        ]),
  ]
}

const PLATFORMS: ReadonlySet<RouteConfig['protocol']> = new Set(['github', 'gitlab', 'bitbucket'])

export function pushWarnings({ protocol, scm }: RouteConfig, index: number): readonly Located[] {
  if (!PLATFORMS.has(protocol) || scm.push !== 'pass') return []
  return [
    at(
      `/routes/${index}/scm/push`,
      'a push to a protected branch goes around every judged merge',
      'deny is the default',
    ),
  ]
}
