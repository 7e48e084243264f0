/** What a route to a source-control platform allows. Part of the configuration schema. */
import { mistakeAt } from '../../settings/mistake-collector.ts'
import type { ProtocolSettings, RouteWith } from '../common/protocol-settings.ts'
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { BRANCHES, globMistakes, TAGS, WORKFLOWS } from '../../scm/name-globs.ts'
import { strict } from '../../settings/fields.ts'

const ScmSection = strict(
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
        'Branches (globs) that files may reach by a judged merge only: direct writes to them are judged as merges, and pushes go by `push`. They are not deleted. Name your default branch here.',
    }),
    protected_tags: Type.Array(Type.String({ minLength: 1 }), {
      default: ['**'],
      description:
        'Tags (globs) that releases and deployments depend on. Moving one is judged. Deleting one is refused, because it could be made again at another commit. A new tag passes. Pushes: see `push`.',
    }),
    push: Type.Union([Type.Literal('deny'), Type.Literal('receipt'), Type.Literal('pass')], {
      default: 'deny',
      description:
        'git push over HTTP that moves a protected branch or tag. deny: refused. receipt: forwarded with a receipt for operation push. pass: forwarded unjudged, which bypasses every merge. One that deletes such a branch or tag is refused unless pass.',
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
      description:
        'GitHub workflows (file names or ids, globs) whose dispatch is a deployment. A dispatch by id is refused where a file is named here, and the other way round.',
    }),
  },
  'Routes of the protocols github, gitlab and bitbucket.',
)
type ScmSection = Static<typeof ScmSection>

const sections = { scm: ScmSection }
export type ScmRoute = RouteWith<typeof sections>

/** Of each platform: they have the same section. */
export const scmRouteSettings = {
  sections,
  takesEncodedSlashes: true,
  mistakes: ({ scm }, pointer) => [
    ...globMistakes(scm.protected_branches, `${pointer}/scm/protected_branches`, BRANCHES),
    ...globMistakes(scm.protected_tags, `${pointer}/scm/protected_tags`, TAGS),
    ...globMistakes(scm.workflows, `${pointer}/scm/workflows`, WORKFLOWS),
  ],
  warnings: ({ scm }, pointer) => [
    ...(scm.push === 'pass'
      ? [
          mistakeAt(
            `${pointer}/scm/push`,
            'a push to a protected branch goes around every judged merge',
            'deny is the default',
          ),
        ]
      : []),
    ...(['protected_branches', 'protected_tags'] as const)
      .filter((list) => scm[list].length === 0)
      .map((list) =>
        mistakeAt(
          `${pointer}/scm/${list}`,
          `no ${list === 'protected_branches' ? 'branch' : 'tag'} is protected, so direct writes to all of them pass unjudged`,
          'leave it out for the default',
        ),
      ),
  ],
} satisfies ProtocolSettings<typeof sections>
