/**
 * Every write endpoint of Bitbucket Cloud's API that its recogniser does not judge: its effect, and why.
 * https://developer.atlassian.com/cloud/bitbucket/rest/
 */
import type { EndpointGroup } from '../scm/endpoints.ts'

/** Behind the path of the repository. */
export const BITBUCKET_REPOSITORY: readonly EndpointGroup[] = [
  {
    effect: 'passes',
    because: 'reads, in spite of its method',
    endpoints: ['POST commits', 'POST commits/:revision', 'issues/export'],
  },
  {
    effect: 'texts',
    because: 'texts of people, and proposals, in which bots look for commands',
    endpoints: [
      'commit/:commit/comments',
      'commit/:commit/comments/:id',
      'pullrequests',
      'pullrequests/:id/comments',
      'pullrequests/:id/comments/:comment',
      'pullrequests/:id/tasks',
      'pullrequests/:id/tasks/:task',
    ],
  },
  {
    effect: 'passes',
    because:
      'words, marks and results about code; none of them is a command here, and a merge is judged whatever they say',
    endpoints: [
      'DELETE commit/:commit/approve',
      'POST commit/:commit/approve',
      'commit/:commit/properties/:app/:name',
      'commit/:commit/reports/:id/annotations',
      'commit/:commit/reports/:id/annotations/:annotation',
      'issues',
      'issues/import',
      'issues/:id',
      'issues/:id/attachments',
      'issues/:id/attachments/:path',
      'issues/:id/changes',
      'issues/:id/comments',
      'issues/:id/comments/:comment',
      'issues/:id/vote',
      'issues/:id/watch',
      'properties/:app/:name',
    ],
  },
  {
    effect: 'results',
    because: 'results of checks; a merge is judged whatever they say; the check of the gateway is its own',
    endpoints: ['commit/:commit/reports/:id', 'commit/:commit/statuses/build', 'commit/:commit/statuses/build/:key'],
  },
  {
    effect: 'passes',
    because: 'a proposal; what it proposes is judged when it is merged',
    endpoints: [
      'DELETE pullrequests/:id/approve',
      'pullrequests/:id/comments/:comment/resolve',
      'pullrequests/:id/decline',
      'POST pullrequests/:id/request-changes',
      'pullrequests/:id/properties/:app/:name',
      'forks',
    ],
  },
  {
    effect: 'passes',
    because: 'new tags: nobody uses them yet, and none that is there moves or goes unjudged',
    endpoints: ['refs/tags'],
  },
  {
    effect: 'passes',
    because: 'ends work or removes what it left behind; nothing starts by it',
    endpoints: [
      'pipelines/:id/stoppipeline',
      'pipelines-config/caches',
      'pipelines-config/caches/:id',
      'pipelines_config/build_number',
    ],
  },
  {
    effect: 'approve',
    because: 'removes what blocks a merge; a merge that waits for it then proceeds',
    endpoints: ['POST pullrequests/:id/approve', 'DELETE pullrequests/:id/request-changes'],
  },
  {
    effect: 'deploy',
    because: 'starts what the pipelines of the repository do, and they may ship it',
    endpoints: ['pipelines', 'pipelines_config/schedules/*', 'environments/*', 'deployments_config/*'],
  },
  {
    effect: 'publish',
    because: 'changes what is offered for download',
    endpoints: ['downloads/*'],
  },
  {
    effect: 'administer',
    because: 'changes what guards merges and deployments, or who and what may go around it',
    endpoints: [
      'branch-restrictions/*',
      'branching-model/*',
      'default-reviewers/*',
      'deploy-keys/*',
      'hooks/*',
      'override-settings',
      'permissions-config/*',
      'PUT pipelines_config',
      'pipelines_config/runners/*',
      'pipelines_config/ssh/*',
      'pipelines_config/variables/*',
    ],
  },
]

/** From the root of the API, and of the site of git and sign-in. */
export const BITBUCKET_ELSEWHERE: readonly EndpointGroup[] = [
  {
    effect: 'passes',
    because: 'exchanges a credential of the caller',
    endpoints: ['site/oauth2/access_token'],
  },
  {
    effect: 'passes',
    because: 'texts of people; in no repository',
    endpoints: [
      'snippets',
      'snippets/:workspace',
      'snippets/:workspace/:id',
      'snippets/:workspace/:id/comments',
      'snippets/:workspace/:id/comments/:comment',
      'snippets/:workspace/:id/watch',
      'snippets/:workspace/:id/:node',
      'users/:user/properties/:app/:name',
    ],
  },
  {
    effect: 'administer',
    because: 'changes who and what may reach repositories, or the rules that hold for them',
    endpoints: [
      'addon/*',
      'teams/*',
      'users/:user/gpg-keys/*',
      'users/:user/pipelines_config/*',
      'users/:user/ssh-keys/*',
      'workspaces/*',
    ],
  },
]
