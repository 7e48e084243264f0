/** Source control: how the platforms are reached, and what counts as a contract. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { ARTIFACT_TYPES, Type } from '../../engine/base.ts'
import { integer, period, seconds, strict } from '../settings/fields.ts'
import type { LimitsConfig } from '../settings/limits.ts'
import { PLATFORMS, type PlatformId } from './platform.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { checkFile, checkRsaKey } from '../tls/certificate-checks.ts'
import { globMistakes, REPOSITORY_PATHS } from './name-globs.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'

const api = (address: string, what: string) =>
  Type.String({ default: address, pattern: '^https?://[^?#]+$', description: `Base address of ${what}.` })

const tokenFile = (permissions: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      description: `File of a token with ${permissions}, read for each use; relative to the configuration file. Used where a request carries no token of its own.`,
    }),
  )

const webhook = (secrets: string) =>
  Type.Optional(
    Type.Object(
      {
        secret_file: Type.String({
          minLength: 1,
          description: `File with ${secrets}, one a line, at least 16 characters each; relative to the configuration file. Any line counts, so that a secret can be changed without a gap.`,
        }),
      },
      {
        additionalProperties: false,
        description:
          'Deliveries of its webhooks are accepted: pull requests are judged when they change (docs/webhooks.md).',
      },
    ),
  )

const DEFAULT_GLOBS = [
  '**/*.{yaml,yml,json}',
  '**/*.{graphql,graphqls,gql,proto}',
  '!**/node_modules/**',
  '!**/vendor/**',
  '!**/{package,package-lock,npm-shrinkwrap,composer,tsconfig,tsconfig.*,jsconfig,angular,nx,lerna,turbo,deno,biome,renovate}.json',
  '!**/pnpm-lock.yaml',
]

export const ScmSettings = strict(
  {
    github: strict(
      {
        api: api('https://api.github.com', 'the REST API; https://HOST/api/v3 on an Enterprise Server'),
        app: Type.Optional(
          Type.Object(
            {
              id: Type.String({ pattern: '^[A-Za-z0-9.]+$', description: 'App id or client id.' }),
              key_file: Type.String({
                minLength: 1,
                description: 'PEM file of its private key; relative to the configuration file.',
              }),
            },
            {
              additionalProperties: false,
              description:
                'GitHub App that reads repositories for bindings and server derivation and writes check runs, where it is installed.',
            },
          ),
        ),
        token_file: tokenFile('read access to contents and pull requests, and write access to commit statuses'),
        webhook: webhook('the secret of the webhook or of the App'),
      },
      'GitHub (scm_a).',
    ),
    gitlab: strict(
      {
        api: api('https://gitlab.com/api/v4', 'the REST API'),
        token_file: tokenFile('the scope api'),
        webhook: webhook('the signing token (whsec_…) or the secret token of the webhook'),
      },
      'GitLab (scm_b).',
    ),
    bitbucket: strict(
      {
        api: api('https://api.bitbucket.org/2.0', 'the REST API'),
        token_file: tokenFile('the scopes repository:write and pullrequest'),
        webhook: webhook('the secret of the webhook'),
      },
      'Bitbucket Cloud (scm_c).',
    ),
    checks: strict(
      {
        name: Type.String({
          default: 'preflight/merge',
          pattern: '^[A-Za-z0-9][A-Za-z0-9 ./_-]{0,39}$',
          description: 'Name of the check run or commit status. Require it in the protection of the branch.',
        }),
        tenant: Type.String({
          default: 'local',
          pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$',
          description: 'Tenant whose bindings count, and whose ledger has the decisions.',
        }),
        environment: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'Environment of the decisions, for the policy.' }),
        ),
        give_up: period(21_600, 'A check that cannot be made or published by then is given up, and counted', 1),
      },
      'Checks of pull requests that webhooks ask for.',
    ),
    contracts: strict(
      {
        types: Type.Array(Type.Enum(ARTIFACT_TYPES), {
          minItems: 1,
          default: [...ARTIFACT_TYPES],
          description: 'Types of contracts that count.',
        }),
        globs: Type.Array(Type.String({ minLength: 1 }), {
          default: DEFAULT_GLOBS,
          description:
            'Files that are read; one that begins with ! excludes. The text of a file decides whether it is a contract.',
        }),
      },
      'Contract discovery profile: what of a repository counts as contract (contract_selector_hash).',
    ),
    max_contracts: integer(
      200,
      'Maximum number of changed files that are read; with more the change set is incomplete',
    ),
    max_requests: integer(600, 'Questions to the platform for one change set'),
    timeout: seconds(15, 'One answer of the platform'),
    challenge: period(3600, 'A binding challenge is to be proven within this'),
  },
  'Source-control platforms.',
)
export type ScmSettings = Static<typeof ScmSettings>

/** What of the configuration the platforms read. */
export interface ScmConfig extends LimitsConfig {
  readonly scm: ScmSettings
}

/** Whether the gateway has a credential of its own at a platform. */
export function hasCredential(scm: ScmSettings, platform: PlatformId): boolean {
  const { name } = PLATFORMS[platform]
  return scm[name].token_file !== undefined || (name === 'github' && scm.github.app !== undefined)
}

interface CheckedConfig {
  readonly scm: ScmSettings
  readonly store: { readonly url?: string }
}

export function checkScm({ scm, store }: CheckedConfig): readonly LocatedMistake[] {
  const { github, gitlab, bitbucket, contracts } = scm
  return [
    ...(github.app === undefined ? [] : checkRsaKey('/scm/github/app/key_file', github.app.key_file)),
    ...(github.app === undefined || github.token_file === undefined
      ? []
      : [mistakeAt('/scm/github/token_file', 'the App is used, so this token never is', 'leave one of the two out')]),
    ...Object.entries({ github, gitlab, bitbucket }).flatMap(([name, { token_file: file }]) =>
      file === undefined ? [] : checkFile(`/scm/${name}/token_file`, file),
    ),
    ...Object.entries({ github, gitlab, bitbucket }).flatMap(([name, { webhook }]) =>
      webhook === undefined ? [] : checkWebhook(`/scm/${name}/webhook`, webhook.secret_file, scm, store),
    ),
    ...globMistakes(contracts.globs, '/scm/contracts/globs', REPOSITORY_PATHS),
    ...(contracts.globs.some((glob) => !glob.startsWith('!'))
      ? []
      : [
          mistakeAt(
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
          mistakeAt(
            `${pointer}/secret_file`,
            `${file} has no line of ${SHORTEST_SECRET} characters or more`,
            'write one secret a line, e.g. the output of: openssl rand -hex 32',
          ),
        ]),
    ...(hasCredentials
      ? []
      : [
          mistakeAt(
            pointer,
            'there is no credential to read the pull requests and to write the checks with',
            `add scm.${name}.token_file${name === 'github' ? ' or scm.github.app' : ''}`,
          ),
        ]),
    ...(store.url !== undefined && /^https?:/.test(store.url)
      ? [mistakeAt(pointer, 'a sidecar of a hub has no queue for deliveries', 'accept webhooks at the hub')]
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
