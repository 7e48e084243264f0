/** What a schema cannot say of source control: files that are not there, and addresses that are none. */
import type { ScmSettings } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { checkFile, checkRsaKey } from '../tls/certificate-checks.ts'
import { at } from '../settings/mistake-collector.ts'

export function checkScm({ scm }: { readonly scm: ScmSettings }): readonly LocatedMistake[] {
  const { github, gitlab, bitbucket, contracts } = scm
  const addresses = Object.entries({ github, gitlab, bitbucket }).flatMap(([name, { api }]) =>
    URL.canParse(api) ? [] : [at(`/scm/${name}/api`, `${api} is not a URL`, 'write http(s)://HOST[:PORT][/PATH]')],
  )
  return [
    ...addresses,
    ...(github.app === undefined ? [] : checkRsaKey('/scm/github/app/key_file', github.app.key_file)),
    ...(github.app === undefined || github.token_file === undefined
      ? []
      : [at('/scm/github/token_file', 'the App is used, so this token never is', 'leave one of the two out')]),
    ...Object.entries({ github, gitlab, bitbucket }).flatMap(([name, { token_file: file }]) =>
      file === undefined ? [] : checkFile(`/scm/${name}/token_file`, file),
    ),
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
