/** Source control: how the platforms are reached, what counts as a contract, and what a route to one of them lets pass. Parts of the configuration's schema. */
import type { Static } from 'typebox'
import { ARTIFACT_TYPES, Type } from '../../engine/base.ts'
import { integer, seconds, strict } from '../settings/fields.ts'

const api = (address: string, what: string) =>
  Type.String({ default: address, pattern: '^https?://[^?#]+$', description: `Base address of ${what}.` })

const DEFAULT_GLOBS = [
  '**/*.{yaml,yml,json}',
  '**/*.{graphql,graphqls,gql,proto}',
  '!**/node_modules/**',
  '!**/vendor/**',
  '!**/{package,package-lock,npm-shrinkwrap,composer,tsconfig,tsconfig.*,jsconfig,angular,nx,lerna,turbo,deno,biome,renovate}.json',
  '!**/pnpm-lock.yaml',
]

export const ScmConfig = strict(
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
                'GitHub App that reads repositories for bindings and server derivation, where it is installed.',
            },
          ),
        ),
      },
      'GitHub (scm_a).',
    ),
    gitlab: strict({ api: api('https://gitlab.com/api/v4', 'the REST API') }, 'GitLab (scm_b).'),
    bitbucket: strict({ api: api('https://api.bitbucket.org/2.0', 'the REST API') }, 'Bitbucket Cloud (scm_c).'),
    contracts: strict(
      {
        types: Type.Array(Type.Enum(ARTIFACT_TYPES), {
          default: [...ARTIFACT_TYPES],
          description: 'Types of contracts that count.',
        }),
        globs: Type.Array(Type.String({ minLength: 1 }), {
          default: DEFAULT_GLOBS,
          description:
            'Files that are looked at; one that begins with ! excludes. What a file is, its text says, so a file that is no contract costs a look and no more.',
        }),
      },
      'Contract discovery profile: what of a repository counts as contract (contract_selector_hash).',
    ),
    max_contracts: integer(200, 'Changed files that are looked at; past that the change set is incomplete'),
    max_requests: integer(600, 'Questions to the platform for one change set'),
    timeout: seconds(15, 'One answer of the platform'),
    challenge: seconds(3600, 'A binding challenge is to be proven within this'),
  },
  'Source-control platforms.',
)
export type ScmConfig = Static<typeof ScmConfig>

export const RouteScmConfig = strict(
  {
    protected_branches: Type.Array(Type.String({ minLength: 1 }), {
      default: [
        'main',
        'master',
        'trunk',
        'develop',
        'development',
        'stable',
        'staging',
        'production',
        'release',
        'release/**',
        'releases/**',
      ],
      description:
        'Branches (globs) that files may reach by a judged merge only: direct writes to them are judged as merges, and pushes go by `push`. Name your default branch here.',
    }),
    push: Type.Union([Type.Literal('deny'), Type.Literal('receipt'), Type.Literal('pass')], {
      default: 'deny',
      description:
        'git push over HTTP to a protected branch. deny: refused, a merge request is the way. receipt: goes on with a receipt for operation push. pass: unjudged, a way around every merge.',
    }),
    auto_merge: Type.Union([Type.Literal('deny'), Type.Literal('judge')], {
      default: 'deny',
      description:
        'Merges that GitHub is to make by itself later (enablePullRequestAutoMerge): commits that come after the judgement would be merged too. judge: judged as of now.',
    }),
    require_head: Type.Boolean({
      default: false,
      description:
        'A merge must name the head commit that it means (GitHub and GitLab: sha; GraphQL: expectedHeadOid), so that the platform refuses another one. Otherwise the head is looked up again just before the merge is sent.',
    }),
    workflows: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'GitHub workflows (file names or ids, globs) whose dispatch is a deployment.',
    }),
  },
  'Routes of the protocols github, gitlab and bitbucket.',
)
export type RouteScmConfig = Static<typeof RouteScmConfig>
