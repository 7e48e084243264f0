/**
 * Requests as the clients of each platform send them: what lands, ships, removes or hands over is judged, and what people do all day
 * passes. One table, so that the platforms can be compared row by row.
 */
import type { ProtocolName } from './profiles.ts'
import type { SentRequest } from './protocol-scene.ts'

export interface PlatformRequests {
  readonly judged: readonly SentRequest[]
  readonly ordinary: readonly SentRequest[]
}

const SHA = 'b'.repeat(40)
const FORM = 'application/x-www-form-urlencoded'

function sent(method: string, path: string, body: unknown = '', type?: string): SentRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { method, path, body: text, ...(type === undefined ? {} : { type }) }
}

const bare = (method: string, ...paths: readonly string[]): readonly SentRequest[] =>
  paths.map((path) => sent(method, path))
const json = (method: string, ...paths: readonly string[]): readonly SentRequest[] =>
  paths.map((path) => sent(method, path, {}))

function form(...parts: readonly (readonly [name: string, content: string, filename?: string])[]): SentRequest['body'] {
  const written = parts.map(([name, content, filename]) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`
    return `--x\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`
  })
  return `${written.join('')}--x--\r\n`
}
const MULTIPART = 'multipart/form-data; boundary=x'

const pktLine = (line: string): string => (line.length + 4).toString(16).padStart(4, '0') + line
function push(refs: readonly string[], options: readonly string[] = []): SentRequest {
  const lines = refs.map((ref, index) =>
    pktLine(`${'0'.repeat(40)} ${SHA} ${ref}${index === 0 ? '\0report-status push-options' : ''}`),
  )
  const behind = options.length === 0 ? '' : `${options.map(pktLine).join('')}0000`
  return sent(
    'POST',
    '/acme/pets.git/git-receive-pack',
    `${lines.join('')}0000${behind}PACK`,
    'application/x-git-receive-pack-request',
  )
}

const graphql = (query: string, variables: object = {}, path = '/graphql'): SentRequest =>
  sent('POST', path, { query, variables })

const MERGE_FIELD = 'mergePullRequest(input: {pullRequestId: "x"}) { clientMutationId }'
const COMMIT = {
  branch: { repositoryNameWithOwner: 'acme/pets', branchName: 'main' },
  expectedHeadOid: SHA,
  message: { headline: 'm' },
  fileChanges: {},
}
const R = '/repos/acme/pets'

const GITHUB: PlatformRequests = {
  judged: [
    ...json('PUT', `${R}/pulls/7/merge-async`, `${R}/pulls/7/update-branch`, `${R}/branches/main/protection`),
    ...json('POST', `${R}/merge-upstream`, `${R}/rulesets`, `${R}/pages/deployments`, `${R}/pages`, `${R}/deploy-keys`),
    ...json('POST', `${R}/merge-queue`, `${R}/branches/main/protection/enforce_admins`, `${R}/keys`, `${R}/hooks`),
    ...bare('DELETE', `${R}/rulesets/1`, `${R}/branches/main/protection`, `${R}/pages`, `${R}/environments/production`),
    ...bare('DELETE', `${R}/releases/1`, `${R}/releases/assets/1`, R, `${R}/actions/secrets/TOKEN`, `${R}/hooks/1`),
    ...json(
      'PUT',
      `${R}/environments/production`,
      `${R}/actions/secrets/TOKEN`,
      `${R}/collaborators/eve`,
      `${R}/import`,
    ),
    ...json('PUT', `${R}/environments/production/secrets/TOKEN`, `${R}/actions/permissions`, '/orgs/acme/rulesets/1'),
    ...json('PUT', '/orgs/acme/memberships/eve', '/orgs/acme/actions/secrets/TOKEN', '/teams/1/repos/acme/pets'),
    ...json('POST', `${R}/actions/runs/1/approve`, `${R}/actions/runs/1/pending_deployments`, `${R}/transfer`),
    ...json('POST', `${R}/deployments/1/statuses`, `${R}/actions/runs/1/deployment_protection_rule`),
    ...json('POST', '/orgs/acme/rulesets', '/orgs/acme/hooks', `${R}/environments/production/variables`),
    sent('POST', `${R}/merges`, { base: 'main', head: 'topic' }),
    sent('POST', `${R}/merges`, { base: 'topic', head: 'main' }),
    sent('POST', `${R}/git/refs`, { ref: 'refs/heads/main', sha: SHA }),
    sent('POST', `${R}/git/refs`, { ref: 'refs/heads/release/1', sha: SHA }),
    sent('PATCH', `${R}/git/refs/heads/main`, { sha: SHA, force: true }),
    sent('PATCH', `${R}/git/refs/heads/Main`, { sha: SHA }),
    sent('PUT', `${R}/contents/api.json`, { content: 'YQ==', message: 'm', branch: 'main' }),
    sent('PUT', `${R}/contents/api.json`, { content: 'YQ==', message: 'm', branch: 'heads/main' }),
    sent('PUT', `${R}/contents/api.json`, { content: 'YQ==', message: 'm', branch: 'refs/heads/main' }),
    sent('PUT', `${R}/contents/api.json`, { content: 'YQ==', message: 'm', branch: '' }),
    sent('PUT', `${R}/contents/api.json`, { content: 'YQ==', message: 'm', branch: null }),
    sent('DELETE', `${R}/contents/api.json?branch=main&sha=${SHA}&message=m`),
    sent('DELETE', `${R}/contents/api.json`, { sha: SHA, message: 'm' }),
    sent('POST', `${R}/branches/topic/rename`, { new_name: 'main' }),
    sent('POST', `${R}/branches/main/rename`, { new_name: 'old' }),
    sent('PATCH', R, { default_branch: 'topic' }),
    sent('PATCH', R, { allow_auto_merge: true }),
    sent('PATCH', R, { visibility: 'public' }),
    sent('POST', `${R}/pulls/7/reviews`, { event: 'APPROVE' }),
    sent('POST', `${R}/pulls/7/reviews`, { event: 'approve' }),
    sent('POST', `${R}/pulls/7/reviews/1/events`, { event: 'APPROVE' }),
    sent('PUT', `${R}/pulls/7/reviews/1/dismissals`, { message: 'm', event: 'DISMISS' }),
    sent('POST', `${R}/deployments`, { ref: 'topic' }),
    sent('POST', `${R}/releases`, { tag_name: 'v1' }),
    sent('POST', `${R}/releases`, { tag_name: 'v1', draft: false }),
    sent('PATCH', `${R}/releases/1`, { draft: false }),
    sent('PATCH', `${R}/releases/1`, { make_latest: 'true' }),
    sent('PATCH', `${R}/releases/1`, { prerelease: false }),
    sent('PATCH', `${R}/releases/1`, { tag_name: 'v2' }),
    sent('POST', `${R}/actions/workflows/deploy.yml/dispatches`, { ref: 'topic' }),
    sent('POST', `${R}/actions/workflows/Deploy.YML/dispatches`, { ref: 'topic' }),
    sent('POST', `${R}/actions/workflows/4711/dispatches`, { ref: 'topic' }),
    sent('POST', `${R}/actions/workflows/.github%2Fworkflows%2Fdeploy.yml/dispatches`, { ref: 'topic' }),
    sent('POST', `${R}/dispatches`, { event_type: 'deploy' }),
    ...json('POST', `${R}/actions/runs/1/rerun`, `${R}/actions/jobs/1/rerun`, `${R}/actions/runs/1/rerun-failed-jobs`),
    sent('POST', `${R}/code-scanning/alerts/1/autofix/commits`, { target_ref: 'refs/heads/main' }),
    push(['refs/heads/topic', 'refs/heads/main']),
    push(['refs/heads/release/2']),
    push(['refs/Heads/main']),
    graphql(`mutation { a: ${MERGE_FIELD} }`),
    graphql(`mutation { ...f } fragment f on Mutation { ${MERGE_FIELD} }`),
    graphql(`mutation { ... on Mutation { ... { ${MERGE_FIELD} } } }`),
    graphql('mutation($i: MergePullRequestInput!) { mergePullRequest(input: $i) { clientMutationId } }', {
      i: { pullRequestId: 'x' },
    }),
    graphql('mutation($i: UpdateRefInput = {refId: "x", oid: "y"}) { updateRef(input: $i) { clientMutationId } }'),
    graphql(`mutation @skip(if: true) { ${MERGE_FIELD} }`),
    graphql(`query q { viewer { login } } mutation m { ${MERGE_FIELD} }`),
    sent('POST', '/graphql', {
      query: `query q { viewer { login } } mutation m { ${MERGE_FIELD} }`,
      operationName: 'm',
    }),
    sent('POST', '/graphql', [{ query: `mutation { ${MERGE_FIELD} }` }]),
    sent('POST', `/graphql?query=${encodeURIComponent(`mutation { ${MERGE_FIELD} }`)}`),
    sent('GET', `/graphql?query=${encodeURIComponent(`mutation { ${MERGE_FIELD} }`)}`),
    sent('POST', '/graphql', `query=${encodeURIComponent(`mutation { ${MERGE_FIELD} }`)}`, FORM),
    sent('POST', '/graphql', { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
    graphql('mutation { enablePullRequestAutoMerge(input: {pullRequestId: "x"}) { clientMutationId } }'),
    graphql('mutation { enqueuePullRequest(input: {pullRequestId: "x"}) { clientMutationId } }'),
    graphql('mutation { mergeBranch(input: {repositoryId: "x", base: "main", head: "t"}) { clientMutationId } }'),
    graphql('mutation { updateRefs(input: {repositoryId: "x", refUpdates: []}) { clientMutationId } }'),
    graphql(
      'mutation { createRef(input: {repositoryId: "x", name: "refs/heads/main", oid: "y"}) { clientMutationId } }',
    ),
    graphql('mutation($i: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $i) { clientMutationId } }', {
      i: COMMIT,
    }),
    graphql(
      'mutation { submitPullRequestReview(input: {pullRequestReviewId: "x", event: APPROVE}) { clientMutationId } }',
    ),
    graphql('mutation { addPullRequestReview(input: {pullRequestId: "x", event: APPROVE}) { clientMutationId } }'),
    graphql(
      'mutation($e: PullRequestReviewEvent!) { addPullRequestReview(input: {pullRequestId: "x", event: $e}) { clientMutationId } }',
      { e: 'APPROVE' },
    ),
    graphql(
      'mutation { dismissPullRequestReview(input: {pullRequestReviewId: "x", message: "m"}) { clientMutationId } }',
    ),
    graphql('mutation { deleteBranchProtectionRule(input: {branchProtectionRuleId: "x"}) { clientMutationId } }'),
    graphql('mutation { updateBranchProtectionRule(input: {branchProtectionRuleId: "x"}) { clientMutationId } }'),
    graphql('mutation { createRepositoryRuleset(input: {sourceId: "x"}) { clientMutationId } }'),
    graphql('mutation { approveDeployments(input: {workflowRunId: "x"}) { clientMutationId } }'),
    graphql(
      'mutation { updatePullRequest(input: {pullRequestId: "x", baseRefName: "main"}) { clientMutationId } addStar(input: {starrableId: "x"}) { clientMutationId } notKnown { id } }',
    ),
    graphql('mutation { revertPullRequest(input: {pullRequestId: "x"}) { clientMutationId } }'),
    sent('POST', `${R}/issues/7/comments`, { body: '/merge' }),
  ],
  ordinary: [
    ...bare('GET', `${R}/pulls/7`, `${R}/rulesets`, `${R}/environments`, `${R}/actions/workflows/deploy.yml/runs`),
    sent('POST', `${R}/pulls`, { title: 't', head: 'topic', base: 'main' }),
    sent('POST', `${R}/pulls/7/reviews`, { event: 'COMMENT', body: 'b' }),
    sent('POST', `${R}/issues/7/comments`, { body: 'See /merge in the docs.' }),
    sent('POST', `${R}/releases`, { tag_name: 'v1', draft: true }),
    sent('PATCH', `${R}/releases/1`, { name: 'n', body: 'b' }),
    sent('POST', `${R}/actions/workflows/test.yml/dispatches`, { ref: 'topic' }),
    sent('PATCH', R, { description: 'd' }),
    sent('POST', `${R}/check-runs`, { name: 'c', head_sha: SHA }),
    push(['refs/heads/topic', 'refs/tags/v1']),
    graphql('query { viewer { login } }'),
    graphql('mutation { addStar(input: {starrableId: "x"}) { clientMutationId } }'),
    graphql('mutation { addComment(input: {subjectId: "x", body: "mergePullRequest"}) { clientMutationId } }'),
  ],
}

const P = '/api/v4/projects/4711'
const GRAPH = '/api/graphql'
const GITLAB: PlatformRequests = {
  judged: [
    ...json(
      'POST',
      `${P}/merge_trains/merge_requests/7`,
      `${P}/protected_branches`,
      `${P}/protected_tags`,
      `${P}/push_rule`,
    ),
    ...json(
      'POST',
      `${P}/pipeline`,
      `${P}/jobs/1/play`,
      `${P}/environments/1/stop`,
      `${P}/environments/stop_stale`,
      `${P}/jobs/1/retry`,
      `${P}/deployments`,
      `${P}/pipelines/1/retry`,
    ),
    ...json('POST', `${P}/merge_requests/7/approve`, `${P}/deployments/1/approval`, `${P}/variables`, `${P}/triggers`),
    ...json(
      'POST',
      `${P}/hooks`,
      `${P}/deploy_keys`,
      `${P}/members`,
      `${P}/approval_rules`,
      `${P}/protected_environments`,
    ),
    ...json('POST', `${P}/ref/main/trigger/pipeline`, `${P}/trigger/pipeline`, `${P}/pipeline_schedules/1/play`),
    ...json('POST', `${P}/repository/changelog?version=1.0.0`, `${P}/merge_requests/7/approvals`, `${P}/access_tokens`),
    ...json(
      'PUT',
      `${P}/merge_requests/7/rebase`,
      `${P}/approvals`,
      `${P}/variables/A`,
      `${P}/merge_requests/7/draft_notes/1/publish`,
    ),
    ...json(
      'PUT',
      '/api/v4/suggestions/1/apply',
      '/api/v4/suggestions/batch_apply',
      '/api/v4/groups/1',
      `${P}/transfer`,
    ),
    ...json('PATCH', `${P}/protected_branches/main`, `${P}/job_token_scope`),
    ...bare('DELETE', `${P}/protected_branches/main`, `${P}/push_rule`, P, `${P}/merge_requests/7/approval_rules/1`),
    ...bare('DELETE', `${P}/packages/1`, `${P}/releases/v1`, `${P}/registry/repositories/1/tags/v1`),
    sent('PUT', `${P}/merge_requests/7/merge`, { merge_when_pipeline_succeeds: true }),
    sent('PUT', `${P}/merge_requests/7/merge`, { auto_merge: true, sha: SHA }),
    sent('PUT', `${P}/merge_requests/7/merge?sha=${SHA}`),
    sent('PUT', P, { default_branch: 'topic' }),
    sent('PUT', P, { only_allow_merge_if_pipeline_succeeds: false }),
    sent('POST', `${P}/repository/commits`, {
      branch: 'main',
      commit_message: 'm',
      actions: [
        { action: 'create', file_path: 'a', content: 'b' },
        { action: 'delete', file_path: 'api.json' },
      ],
    }),
    sent('POST', `${P}/repository/commits`, {
      branch: 'main',
      start_branch: 'topic',
      commit_message: 'm',
      actions: [],
    }),
    sent(
      'POST',
      `${P}/repository/commits`,
      `branch=main&commit_message=m&actions[][action]=delete&actions[][file_path]=api.json`,
      FORM,
    ),
    sent(
      'POST',
      `${P}/repository/commits`,
      form(['branch', 'main'], ['commit_message', 'm'], ['actions[][action]', 'delete']),
      MULTIPART,
    ),
    sent('PUT', `${P}/repository/files/docs%2Fapi.json`, { branch: 'main', content: 'a', commit_message: 'm' }),
    sent('DELETE', `${P}/repository/files/docs%2Fapi.json?branch=main&commit_message=m`),
    sent('POST', `${P}/repository/branches?branch=main&ref=topic`),
    sent('POST', `${P}/repository/branches`, { branch: 'main', ref: 'topic' }),
    sent('POST', `${P}/repository/commits/${SHA}/cherry_pick`, { branch: 'main' }),
    sent('POST', `${P}/repository/commits/${SHA}/revert`, { branch: 'main' }),
    sent('PUT', `${P}/repository/submodules/lib`, { branch: 'main', commit_sha: SHA }),
    sent('POST', `${P}/releases`, { tag_name: 'v1' }),
    ...[
      '/merge',
      ' /merge',
      '/MERGE',
      'text\n/merge',
      'text\r\n/ship',
      '/approve',
      '/rebase',
      '/merge\n/close',
      '> q\n/submit_review',
      '/unknown_action',
    ].map((body) => sent('POST', `${P}/merge_requests/7/notes`, { body })),
    sent('POST', `${P}/merge_requests/7/notes?body=%2Fmerge`),
    sent('POST', `${P}/merge_requests/7/notes`, 'body=%2Fmerge', FORM),
    sent('POST', `${P}/merge_requests/7/notes`, form(['body', '/merge']), MULTIPART),
    sent('POST', `${P}/merge_requests/7/discussions`, { body: '/merge' }),
    sent('POST', `${P}/merge_requests/7/draft_notes`, { note: '/merge' }),
    sent('POST', `${P}/merge_requests`, {
      source_branch: 't',
      target_branch: 'main',
      title: 't',
      description: '/merge',
    }),
    sent('PUT', `${P}/merge_requests/7`, { description: '/merge' }),
    sent('PUT', `${P}/merge_requests/7`, { target_branch: 'main', description: '/ship' }),
    push(['refs/heads/topic'], ['merge_request.merge_when_pipeline_succeeds']),
    push(['refs/heads/topic'], ['merge_request.create', 'merge_request.auto_merge']),
    push(['refs/heads/topic'], ['merge_request.description=/merge']),
    push(['refs/heads/topic'], ['merge_request.description=a\\n/merge']),
    push(['refs/heads/topic'], ['mr.auto_merge']),
    push(['refs/heads/main'], ['ci.skip']),
    graphql(
      'mutation { mergeRequestAccept(input: {iid: "7", projectPath: "acme/pets", sha: "x", strategy: MERGE_TRAIN}) { errors } }',
      {},
      GRAPH,
    ),
    graphql(
      'mutation { a: commitCreate(input: {projectPath: "acme/pets", branch: "main", message: "m", actions: []}) { errors } }',
      {},
      GRAPH,
    ),
    graphql('mutation { createNote(input: {noteableId: "x", body: "/merge"}) { errors } }', {}, GRAPH),
    graphql(
      'mutation($b: String!) { createNote(input: {noteableId: "x", body: $b}) { errors } }',
      { b: '/merge' },
      GRAPH,
    ),
    graphql(
      'mutation { mergeRequestUpdate(input: {iid: "7", projectPath: "p", description: "/merge"}) { errors } }',
      {},
      GRAPH,
    ),
    graphql('mutation { branchRuleDelete(input: {id: "x"}) { errors } }', {}, GRAPH),
    graphql('mutation { pipelineCreate(input: {projectPath: "p", ref: "main"}) { errors } }', {}, GRAPH),
    graphql('mutation { environmentStop(input: {id: "x"}) { errors } }', {}, GRAPH),
    graphql('mutation { jobPlay(input: {id: "x"}) { errors } }', {}, GRAPH),
    graphql('mutation { notKnownYet(input: {id: "x"}) { errors } }', {}, GRAPH),
    sent(
      'GET',
      `${GRAPH}?query=${encodeURIComponent('mutation { mergeRequestAccept(input: {iid: "7", projectPath: "p", sha: "x"}) { errors } }')}`,
    ),
    sent('GET', GRAPH, { query: 'mutation { mergeRequestAccept(input: {iid: "7", projectPath: "p"}) { errors } }' }),
    sent('GET', GRAPH, `query=${encodeURIComponent('mutation { jobPlay(input: {id: "x"}) { errors } }')}`, FORM),
    sent(
      'HEAD',
      `${GRAPH}?query=%6dutation%20%7B%20jobPlay(input%3A%20%7Bid%3A%20%22x%22%7D)%20%7B%20errors%20%7D%20%7D`,
    ),
    sent('GET', `${GRAPH};a?query=${encodeURIComponent('mutation { jobPlay(input: {id: "x"}) { errors } }')}`),
    sent('GET', `${GRAPH}.json?query=${encodeURIComponent('mutation { jobPlay(input: {id: "x"}) { errors } }')}`),
    sent('POST', GRAPH, [
      { query: 'query { currentUser { id } }' },
      { query: 'mutation { mergeRequestAccept(input: {iid: "7", projectPath: "p", sha: "x"}) { errors } }' },
    ]),
    sent(
      'POST',
      GRAPH,
      form(['query', 'mutation { mergeRequestAccept(input: {iid: "7", projectPath: "p", sha: "x"}) { errors } }']),
      MULTIPART,
    ),
    sent(
      'POST',
      GRAPH,
      form([
        'operations',
        '{"query":"mutation { mergeRequestAccept(input: {iid: \\"7\\", projectPath: \\"p\\", sha: \\"x\\"}) { errors } }"}',
      ]),
      MULTIPART,
    ),
  ],
  ordinary: [
    ...bare('GET', `${P}/merge_requests/7`, `${P}/repository/commits`),
    ...json('PUT', `${P}/merge_requests/7/merge_ref`),
    sent('POST', `${P}/merge_requests/7/notes`, { body: 'see /merge and /etc/hosts' }),
    sent('POST', `${P}/merge_requests/7/notes`, { body: '/label ~bug' }),
    sent('POST', `${P}/merge_requests`, { source_branch: 't', target_branch: 'main', title: 't' }),
    sent('POST', `${P}/repository/commits`, {
      branch: 'topic',
      commit_message: 'm',
      actions: [{ action: 'create', file_path: 'a', content: 'b' }],
    }),
    push(['refs/heads/topic'], ['merge_request.create', 'merge_request.target=main']),
    sent('GET', `${GRAPH}?query=${encodeURIComponent('query { currentUser { id } }')}`),
    sent('GET', '/api/v4/search?scope=blobs&search=mutation'),
    graphql('query { currentUser { id } }', {}, GRAPH),
    graphql('mutation { createNote(input: {noteableId: "x", body: "fine"}) { errors } }', {}, GRAPH),
  ],
}

const B = '/2.0/repositories/acme/pets'
const BITBUCKET: PlatformRequests = {
  judged: [
    sent('POST', `${B}/pullrequests/7/merge?async=true`, { merge_strategy: 'squash' }),
    ...json(
      'POST',
      `${B}/pullrequests/7/approve`,
      `${B}/pipelines`,
      `${B}/pipelines/`,
      `${B}/branch-restrictions`,
      `${B}/hooks`,
    ),
    ...json(
      'POST',
      `${B}/deploy-keys`,
      `${B}/environments`,
      `${B}/environments/1/changes`,
      `${B}/pipelines_config/variables`,
      `${B}/downloads`,
    ),
    ...json('POST', `${B}/pipelines_config/schedules`, `${B}/not-known-yet`),
    ...json(
      'PUT',
      `${B}/default-reviewers/eve`,
      `${B}/branching-model/settings`,
      `${B}/permissions-config/users/eve`,
      `${B}/pipelines_config`,
    ),
    ...json('PUT', `${B}/override-settings`, '/2.0/workspaces/acme/projects/P/branching-model/settings'),
    ...bare(
      'DELETE',
      `${B}/default-reviewers/eve`,
      `${B}/branch-restrictions/1`,
      B,
      `${B}/downloads/a.zip`,
      `${B}/pullrequests/7/request-changes`,
    ),
    sent('PUT', B, { mainbranch: { name: 'topic' } }),
    sent('PUT', B, { is_private: false }),
    sent('POST', `${B}/refs/branches`, { name: 'main', target: { hash: SHA } }),
    sent('POST', `${B}/src`, 'branch=main&message=m&%2Fapi.json=%7B%7D', FORM),
    sent('POST', `${B}/src`, 'message=m&api.json=%7B%7D', FORM),
    sent('POST', `${B}/src/`, form(['branch', 'main'], ['api.json', '{}', 'api.json']), MULTIPART),
    sent('POST', `${B}/src`, form(['files', 'api.json'], ['branch', 'main']), MULTIPART),
    sent('POST', `${B}/src?branch=topic`, 'branch=main&api.json=%7B%7D', FORM),
    sent('POST', `${B}/src`, 'branch=topic&branch=main&api.json=%7B%7D', FORM),
    sent('POST', `${B}/src`, 'branch=refs/heads/main&api.json=%7B%7D', FORM),
    sent('POST', `/!api${B}/pullrequests/7/merge`, {}),
    push(['refs/heads/main']),
  ],
  ordinary: [
    ...bare('GET', `${B}/pullrequests/7`, `${B}/branch-restrictions`),
    sent('POST', `${B}/pullrequests`, { title: 't', source: { branch: { name: 'topic' } } }),
    sent('POST', `${B}/src`, 'branch=topic&message=m&%2Fapi.json=%7B%7D', FORM),
    sent('POST', `${B}/refs/branches`, { name: 'topic', target: { hash: SHA } }),
    sent('PUT', B, { description: 'd' }),
    push(['refs/heads/topic']),
  ],
}

const PACKAGE = {
  _id: 'pets',
  name: 'pets',
  'dist-tags': { latest: '1.0.0' },
  versions: { '1.0.0': { name: 'pets', version: '1.0.0' } },
}
const NPM: PlatformRequests = {
  judged: [
    sent('PUT', '/pets', { ...PACKAGE, _attachments: { 'pets-1.0.0.tgz': { data: 'YQ==', length: 1 } } }),
    sent('PUT', '/@acme%2fpets', PACKAGE),
    sent('PUT', '/@acme/pets', PACKAGE),
    sent('PUT', '/pets/-rev/1-a', PACKAGE),
    sent('PUT', '/pets/-rev/1-a', { ...PACKAGE, versions: {} }),
    sent('PUT', '/pets', { ...PACKAGE, versions: { '1.0.0': { name: 'pets', version: '1.0.0', deprecated: 'no' } } }),
    sent('PUT', '/pets', { ...PACKAGE, maintainers: [{ name: 'eve' }] }),
    sent('PUT', '/pets/latest', '"1.0.0"'),
    ...bare(
      'DELETE',
      '/pets',
      '/pets/-rev/1-a',
      '/pets/-/pets-1.0.0.tgz',
      '/pets/-/pets-1.0.0.tgz/-rev/1-a',
      '/-/package/pets/dist-tags/latest',
    ),
    ...bare('DELETE', '/@acme/pets/-/@acme/pets-1.0.0.tgz/-rev/1-a', '/-/team/acme/devs/package', '/-/org/acme/user'),
    sent('POST', '/-/package/pets/dist-tags', { latest: '1.0.0' }),
    ...json(
      'POST',
      '/-/package/pets/access',
      '/-/package/@acme%2fpets/access',
      '/-/package/pets/trust',
      '/-/npm/v1/hooks/hook',
      '/-/npm/v1/tokens',
      '/-/npm/v1/tokens/granular',
      '/-/npm/v1/user',
      '/-/v1/tokens',
      '/-/not-known',
    ),
    ...json(
      'PUT',
      '/-/package/pets/collaborators',
      '/-/team/acme/devs/package',
      '/-/team/acme/devs/user',
      '/-/org/acme/user',
      '/-/org/acme/team',
    ),
    ...json('POST', '/-/stage/package/pets', '/-/stage/1/approve', '/_bulk_docs', '/pets/_update'),
  ],
  ordinary: [
    ...bare('GET', '/pets', '/-/package/pets/dist-tags', '/-/v1/search?text=pets', '/-/whoami'),
    ...json(
      'POST',
      '/-/npm/v1/security/advisories/bulk',
      '/-/npm/v1/security/audits/quick',
      '/-/v1/login',
      '/-/npm/v1/oidc/token/exchange/package/pets',
    ),
    ...json('PUT', '/-/user/org.couchdb.user:agent'),
    ...bare('DELETE', '/-/user/token/abc', '/-/npm/v1/tokens/token/abc'),
  ],
}

const A = '/api/v1/applications'
const ARGOCD: PlatformRequests = {
  judged: [
    sent('POST', `${A}/shop/sync`, { dryRun: false, prune: true }),
    sent('POST', `${A}/shop/sync`, { dryRun: null }),
    sent('POST', `${A}/shop/sync`, { dryRun: 'true' }),
    sent('POST', `${A}/shop/sync?dryRun=true`, {}),
    sent('POST', `${A}/shop/sync?appNamespace=other`, {}),
    sent('POST', `${A}/shop/sync`, { manifests: ['{}'] }),
    {
      ...sent('GET', '/terminal?pod=web&container=c&appName=shop'),
      headers: ['Connection: Upgrade', 'Upgrade: websocket'],
    },
    sent('POST', '/extensions/metrics/run', {}),
    sent('POST', '/api/webhook', { ref: 'refs/heads/main' }),
    sent('POST', `${A}/shop/rollback`, { id: 1 }),
    sent('PATCH', `${A}/shop`, { patch: '{}', patchType: 'merge' }),
    sent('PUT', `${A}/shop`, { metadata: { name: 'shop' }, spec: {} }),
    sent('PUT', `${A}/shop/spec`, { source: {} }),
    sent('POST', A, { metadata: { name: 'apps' }, spec: { source: { path: 'apps' } } }),
    sent('POST', `${A}?upsert=true`, { metadata: { name: 'shop' } }),
    ...bare(
      'DELETE',
      `${A}/shop`,
      `${A}/shop/operation`,
      `${A}/shop/resource?name=web&kind=Deployment`,
      '/api/v1/clusters/x',
      '/api/v1/projects/shop',
    ),
    ...json(
      'POST',
      `${A}/shop/resource/actions?action=restart`,
      `${A}/shop/resource/actions/v2`,
      `${A}/shop/resource`,
      '/api/v1/applicationsets',
    ),
    ...json(
      'POST',
      '/api/v1/projects',
      '/api/v1/projects/shop/roles/r/token',
      '/api/v1/repositories',
      '/api/v1/clusters',
      '/api/v1/repocreds',
    ),
    ...json(
      'POST',
      '/api/v1/account/eve/token',
      '/api/v1/certificates',
      '/api/v1/gpgkeys',
      '/api/v1/notifications/services',
    ),
    ...json('PUT', '/api/v1/projects/shop', '/api/v1/account/password', '/api/v1/repositories/x'),
    ...[
      '/application.ApplicationService/Sync',
      '/application.ApplicationService/Delete',
      '/application.ApplicationService/RunResourceAction',
      '/application.ApplicationService/TerminateOperation',
      '/project.ProjectService/Update',
      '/repository.RepositoryService/CreateRepository',
      '/application.ApplicationService/NotKnown',
    ].flatMap((path) =>
      ['application/grpc-web+proto', 'application/grpc-web', 'application/grpc-web-text', 'application/grpc'].map(
        (type) => sent('POST', path, '\0\0\0\0\0', type),
      ),
    ),
  ],
  ordinary: [
    ...bare('GET', A, `${A}/shop/manifests`, `${A}/shop/resource-tree`, '/api/v1/projects', '/api/version'),
    sent('POST', `${A}/shop/sync`, { dryRun: true }),
    sent('POST', '/application.ApplicationService/Get', '\0\0\0\0\0', 'application/grpc-web+proto'),
  ],
}

const N = '/api/v1/namespaces/shop'
const D = '/apis/apps/v1/namespaces/shop/deployments'
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } }
const APPLY = 'application/apply-patch+yaml'
const KUBERNETES: PlatformRequests = {
  judged: [
    sent('PATCH', `${D}/web?fieldManager=a&force=true`, DEPLOYMENT, APPLY),
    sent('PATCH', `${D}/web?fieldManager=a`, 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n', APPLY),
    sent('PATCH', `${D}/web`, [{ op: 'replace', path: '/spec/replicas', value: 0 }], 'application/json-patch+json'),
    sent('PATCH', `${D}/web`, { spec: { replicas: 0 } }, 'application/merge-patch+json'),
    sent('PATCH', `${D}/web`, { spec: { replicas: 0 } }, 'application/strategic-merge-patch+json'),
    sent('PATCH', `${D}/web`, { spec: { replicas: 0 } }, 'application/apply-patch+cbor'),
    sent('PATCH', `${D}/web/scale`, { spec: { replicas: 0 } }, 'application/merge-patch+json'),
    sent('PATCH', `${D}/web/status`, { status: {} }, 'application/merge-patch+json'),
    sent('PUT', `${D}/web/scale`, {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web' },
      spec: { replicas: 0 },
    }),
    sent('PATCH', `${N}/pods/a/ephemeralcontainers`, { spec: {} }, 'application/strategic-merge-patch+json'),
    sent('PATCH', `${N}/pods/a/resize`, { spec: {} }, 'application/strategic-merge-patch+json'),
    sent('POST', `${N}/pods/a/eviction`, { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'a' } }),
    sent('POST', `${N}/pods/a/binding`, {
      kind: 'Binding',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      target: { name: 'n' },
    }),
    sent('POST', `${N}/bindings`, {
      kind: 'Binding',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      target: { name: 'n' },
    }),
    sent('POST', `${N}/serviceaccounts/a/token`, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: {},
    }),
    sent('PUT', '/api/v1/namespaces/shop/finalize', {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: 'shop' },
      spec: { finalizers: [] },
    }),
    sent('PUT', '/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval', {
      kind: 'CertificateSigningRequest',
      apiVersion: 'certificates.k8s.io/v1',
      metadata: { name: 'a' },
    }),
    sent('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      kind: 'ClusterRoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'a' },
    }),
    sent('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      kind: 'ValidatingWebhookConfiguration',
      apiVersion: 'admissionregistration.k8s.io/v1',
      metadata: { name: 'a' },
    }),
    ...bare(
      'DELETE',
      D,
      `${D}?labelSelector=a%3Db`,
      `${N}/pods/a`,
      '/api/v1/namespaces/shop',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a',
      `${N}/pods/a/`,
    ),
    sent('DELETE', `${D}/web?dryRun=All`, { kind: 'DeleteOptions', apiVersion: 'v1' }),
    sent('DELETE', `${D}/web`, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['all'] }),
    sent('DELETE', `${D}/web`, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: 'All' }),
    sent('DELETE', `${D}/web`, { kind: 'DeleteOptions', apiVersion: 'v1', DryRun: ['All'] }),
    sent('POST', `${N}/pods/a/exec?command=id&dryRun=All`),
    sent('POST', `${N}/services/web/proxy/admin?dryRun=All`, {}),
    sent('POST', `${N}/serviceaccounts/a/token?dryRun=All`, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: {},
    }),
    {
      ...sent('GET', '/apis/subresources.kubevirt.io/v1/namespaces/shop/virtualmachineinstances/v/console'),
      headers: ['Connection: Upgrade', 'Upgrade: websocket'],
    },
    {
      ...sent('GET', '/apis/apps.example/v1/namespaces/shop/things/t/shell'),
      headers: ['Connection: Upgrade', 'Upgrade: SPDY/3.1'],
    },
    ...[
      'dryRun=all',
      'dryRun=true',
      'dryRun=',
      'dryRun',
      'dryRun=None',
      'DryRun=All',
      'dryrun=All',
      'dryRun=All&dryRun=None',
      'dryRun=None&dryRun=All',
      'dryRun=All%20',
      'dryRun=%41ll%00',
      'dryRun=All;x',
      'dry%52un=ALL',
      'dryRun[]=All',
      'fieldManager=a;dryRun=All',
      'dryRun=All,None',
    ].map((query) => sent('POST', `${D}?${query}`, DEPLOYMENT)),
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
      sent(method, `${N}/services/http:web:80/proxy/admin`, method === 'GET' ? '' : '{}'),
    ),
    ...bare(
      'GET',
      `${N}/pods/a/proxy`,
      `${N}/pods/a/attach?stdin=true`,
      `${N}/pods/a/portforward?ports=80`,
      '/api/v1/nodes/n/proxy/run/shop/a/c?cmd=id',
      '/api/v1/proxy/nodes/n/',
      `${N}/pods/a/exec?command=id&stdout=true`,
    ),
    ...bare('POST', `${N}/pods/a/exec?command=id&stdout=true`, `${N}/pods/a/attach`, `${N}/pods/a/portforward`),
  ],
  ordinary: [
    ...bare(
      'GET',
      `${N}/pods/a/log?follow=true`,
      `${D}?watch=true`,
      '/api',
      '/apis',
      '/version',
      '/readyz',
      `${D}/web/scale`,
    ),
    sent('POST', `${D}?dryRun=All`, DEPLOYMENT),
    sent('DELETE', `${D}/web`, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      dryRun: ['All'],
      propagationPolicy: 'Orphan',
    }),
    sent('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { kind: 'SelfSubjectRulesReview', spec: {} }),
    sent('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { kind: 'SelfSubjectReview' }),
  ],
}

const call = (more: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'wipe', arguments: {} },
  ...more,
})
const PING = { jsonrpc: '2.0', id: 9, method: 'ping' }
const MCP: PlatformRequests = {
  judged: [
    sent('POST', '/mcp', [call()]),
    sent('POST', '/mcp', [PING, call()]),
    sent('POST', '/mcp', [[call()]]),
    sent('POST', '/mcp', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'wipe', arguments: {} } }),
    sent('POST', '/mcp', [PING, { jsonrpc: '2.0', method: 'tools/call', params: { name: 'wipe', arguments: {} } }]),
    sent('POST', '/mcp', call({ id: null })),
    sent('POST', '/mcp', call({ id: 1.5 })),
    sent('POST', '/mcp', call({ jsonrpc: '1.0' })),
    sent('POST', '/mcp', call({ result: {} })),
    sent('POST', '/mcp', call({ error: { code: 1, message: 'm' } })),
    sent('POST', '/mcp', call({ params: { name: 'wipe', arguments: {}, task: { ttl: 1000 } } })),
    sent('POST', '/mcp', call({ params: { name: 'wipe', arguments: {}, _meta: { progressToken: 1 } } })),
    sent('POST', '/mcp', call({ method: 'tools/Call' })),
    sent('POST', '/mcp', call({ method: 'tools/call ' })),
    sent('POST', '/mcp', call({ method: 'TOOLS/CALL' })),
    sent('POST', '/mcp', call({ method: ' tools/call' })),
    sent('POST', '/mcp', call({ method: 'tools/call\0' })),
    sent('POST', '/mcp', call({ method: 'tool\u017f/call' })),
    sent('POST', '/mcp', { jsonrpc: '2.0', method: 'Tools/Call', params: { name: 'wipe' } }),
    sent('POST', '/mcp', call({ method: 'Prompts/Get', params: { name: 'p' } })),
    sent(
      'POST',
      '/mcp',
      '{"jsonrpc":"2.0","id":1,"method":"tools\\u002fcall","params":{"name":"wipe","arguments":{}}}',
    ),
    sent('POST', '/mcp', call({ method: 'prompts/get', params: { name: 'p' } })),
    sent('POST', '/mcp', call({ method: 'resources/read', params: { uri: 'file:///a' } })),
    { ...sent('POST', '/mcp', call()), headers: ['Last-Event-ID: 7', 'Accept: text/event-stream'] },
    { ...sent('POST', '/mcp', call()), headers: ['Mcp-Method: ping', 'Mcp-Name: harmless'] },
    sent('PUT', '/mcp', call()),
    sent('PATCH', '/mcp', call()),
    sent('GET', '/mcp', call()),
    sent('DELETE', '/mcp', call()),
    sent('POST', '/messages?sessionId=1', call()),
    sent('POST', '/mcp', call(), 'application/json-seq'),
  ],
  ordinary: [
    sent('POST', '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }),
    sent('POST', '/mcp', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
    sent('POST', '/mcp', { jsonrpc: '2.0', id: 3, result: { action: 'accept', content: {} } }),
    sent('POST', '/mcp', {
      jsonrpc: '2.0',
      id: 3,
      result: { role: 'assistant', content: { type: 'text', text: 't' }, model: 'm' },
    }),
    sent('POST', '/mcp', { jsonrpc: '2.0', id: 3, result: { roots: [] } }),
    sent('POST', '/mcp', { jsonrpc: '2.0', id: 4, method: 'logging/setLevel', params: { level: 'info' } }),
    { ...sent('GET', '/mcp'), headers: ['Accept: text/event-stream', 'Last-Event-ID: 7'] },
    { ...sent('DELETE', '/mcp'), headers: ['Mcp-Session-Id: a'] },
  ],
}

const Q = '{ pets }'
const GRAPHQL: PlatformRequests = {
  judged: [
    sent('GET', `/graphql?query=${encodeURIComponent(Q)}`),
    sent('GET', `/graphql?query=${encodeURIComponent('mutation { wipe }')}`),
    sent('HEAD', `/graphql?query=${encodeURIComponent(Q)}`),
    sent('POST', `/graphql?query=${encodeURIComponent(Q)}`),
    sent('POST', `/graphql?query=${encodeURIComponent('{ __typename }')}`, { query: Q }),
    sent('POST', '/graphql', [{ query: Q }]),
    sent('POST', '/graphql', [{ query: '{ __typename }' }, { query: Q }]),
    sent('POST', '/graphql', Q, 'application/graphql'),
    sent('POST', '/graphql', `query=${encodeURIComponent(Q)}`, FORM),
    sent('POST', '/graphql', { query: Q, extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
    sent('POST', '/graphql', { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
    sent('GET', `/graphql?extensions=${encodeURIComponent('{"persistedQuery":{"version":1,"sha256Hash":"aa"}}')}`),
    sent('POST', '/graphql', { id: 'stored' }),
    sent('POST', '/graphql', { documentId: 'stored' }),
    sent('POST', '/graphql', { query: 'query a { __typename } query b { pets }', operationName: 'b' }),
    sent('POST', '/graphql', { query: 'query a { __typename } query b { pets }' }),
    sent('POST', '/graphql', { query: 'query { ...f } fragment f on Query { a: pets }' }),
    sent('POST', '/graphql', { query: 'subscription { pets }' }),
    sent('POST', '/graphql', { query: `{ __typename }\r# x\r{ pets }` }),
    sent(
      'POST',
      '/graphql',
      form(
        ['operations', '{"query":"{ pets }","variables":{"f":null}}'],
        ['map', '{"0":["variables.f"]}'],
        ['0', 'a', 'a.txt'],
      ),
      MULTIPART,
    ),
    sent('POST', '/graphql', form(['operations', '[{"query":"{ pets }"}]'], ['map', '{}']), MULTIPART),
    sent(
      'POST',
      '/graphql',
      form(['operations', '{"query":"{ __typename }"}'], ['map', '{"0":["query"]}'], ['0', '{ pets }', 'a.txt']),
      MULTIPART,
    ),
    {
      ...sent('GET', '/graphql'),
      headers: ['Connection: Upgrade, close', 'Upgrade: websocket', 'Sec-WebSocket-Protocol: graphql-transport-ws'],
    },
    sent('PUT', '/graphql', { query: Q }),
  ],
  ordinary: [sent('GET', `/graphql?query=${encodeURIComponent('{ __typename }')}`)],
}

const RPC = '/acme.pets.v1.Pets/Remove'
const GRPC: PlatformRequests = {
  judged: [
    ...[
      'application/grpc',
      'application/grpc+proto',
      'application/grpc-web',
      'application/grpc-web+proto',
      'application/grpc-web-text',
      'application/grpc-web-text+proto',
      'application/proto',
      'application/json',
      'application/connect+proto',
      'application/connect+json',
      'application/grpc+json',
      'application/GRPC',
    ].map((type) => sent('POST', RPC, '\0\0\0\0\0', type)),
    sent('POST', RPC, Buffer.from('\0\0\0\0\0').toString('base64'), 'application/grpc-web-text'),
    sent('GET', `${RPC}?connect=v1&encoding=json&message=%7B%7D`),
    sent('GET', `${RPC}?connect=v1&encoding=proto&base64=1&message=`),
    sent('GET', RPC),
    sent('HEAD', `${RPC}?connect=v1&encoding=json&message=%7B%7D`),
    sent('POST', '/acme.pets.v1.Pets/NotThere', '{}'),
    sent('POST', '/not.known.Service/Call', '{}'),
    sent('POST', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', '\0\0\0\0\0', 'application/grpc'),
    sent('POST', '/v1/pets:remove', '{}'),
    sent('PUT', RPC, '{}'),
  ],
  ordinary: [],
}

export const PLATFORM_REQUESTS: Readonly<Partial<Record<ProtocolName, PlatformRequests>>> = {
  github: GITHUB,
  gitlab: GITLAB,
  bitbucket: BITBUCKET,
  npm: NPM,
  argocd: ARGOCD,
  kubernetes: KUBERNETES,
  mcp: MCP,
  graphql: GRAPHQL,
  grpc: GRPC,
}
