/** What a schema cannot say of source control: files that are not there, and addresses that are none. */
import type { ScmSettings } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { checkFile, checkRsaKey } from '../tls/certificate-checks.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { at } from '../settings/mistake-collector.ts'

interface CheckedConfig {
  readonly scm: ScmSettings
  readonly store: { readonly url?: string }
}

export function checkScm({ scm, store }: CheckedConfig): readonly LocatedMistake[] {
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
    ...Object.entries({ github, gitlab, bitbucket }).flatMap(([name, { webhook }]) =>
      webhook === undefined ? [] : checkWebhook(`/scm/${name}/webhook`, webhook.secret_file, scm, store),
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

const SHORTEST_SECRET = 16

function checkWebhook(
  pointer: string,
  file: string,
  scm: ScmSettings,
  store: CheckedConfig['store'],
): readonly LocatedMistake[] {
  const name =
    pointer.split('/')[2] === 'github' ? 'github' : pointer.split('/')[2] === 'gitlab' ? 'gitlab' : 'bitbucket'
  const platform = scm[name]
  const hasCredentials = platform.token_file !== undefined || (name === 'github' && scm.github.app !== undefined)
  const missing = checkFile(`${pointer}/secret_file`, file)
  return [
    ...missing,
    ...(missing.length > 0 || secretsIn(readRegularFile(file, 'utf8')).length > 0
      ? []
      : [
          at(
            `${pointer}/secret_file`,
            `${file} has no line of ${SHORTEST_SECRET} characters or more`,
            'write one secret a line, e.g. the output of: openssl rand -hex 32',
          ),
        ]),
    ...(hasCredentials
      ? []
      : [
          at(
            pointer,
            'there is no credential to read the pull requests and to write the checks with',
            `add scm.${name}.token_file${name === 'github' ? ' or scm.github.app' : ''}`,
          ),
        ]),
    ...(store.url !== undefined && /^https?:/.test(store.url)
      ? [at(pointer, 'a sidecar of a hub has no queue for deliveries', 'accept webhooks at the hub')]
      : []),
  ]
}

/** A line that is too short to be a secret is none. */
export function secretsIn(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_SECRET)
}
