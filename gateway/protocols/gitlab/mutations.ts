/**
 * Mutations of GitLab's GraphQL API that are forwarded unjudged, and why; all others except merges need a receipt.
 * https://docs.gitlab.com/api/graphql/reference/
 */
import { createMutationTable, type MutationGroup } from '../scm/mutations.ts'
import { splitNames } from '../scm/name-list.ts'

const GROUPS: readonly MutationGroup[] = [
  {
    effect: 'texts',
    because: 'texts of people, in which GitLab runs quick actions',
    mutations: splitNames(
      'createNote updateNote createDiffNote createImageDiffNote updateImageDiffNote createDiscussion',
      'createIssue updateIssue createEpic updateEpic createTestCase createRequirement updateRequirement',
      'workItemCreate workItemUpdate workItemCreateFromTask workItemConvert mergeRequestCreate',
      'mergeRequestUpdate workItemBulkUpdate wikiPageNoteCreate',
    ),
  },
  {
    effect: 'passes',
    because: 'marks and plans of people; none of them is a command here',
    mutations: splitNames(
      'awardEmojiAdd awardEmojiRemove awardEmojiToggle destroyNote repositionImageDiffNote',
      'discussionToggleResolve createBoard updateBoard destroyBoard boardListCreate',
      'boardListUpdateLimitMetrics destroyBoardList updateBoardList createEpicBoard epicBoardCreate',
      'epicBoardListCreate epicBoardListDestroy epicBoardUpdate epicMoveList epicSetSubscription',
      'epicTreeReorder epicAddIssue issueMoveList issueMove issueSetAssignees issueSetConfidential',
      'issueSetCrmContacts issueSetDueDate issueSetEpic issueSetEscalationPolicy issueSetEscalationStatus',
      'issueSetIteration issueSetLocked issueSetSeverity issueSetSubscription issueSetWeight',
      'issueUnlinkAlert issueLinkAlerts issuesBulkUpdate labelCreate labelUpdate iterationCreate',
      'iterationUpdate iterationDelete iterationCadenceCreate iterationCadenceUpdate iterationCadenceDestroy',
      'promoteToEpic markAsSpamSnippet createSnippet updateSnippet destroySnippet starProject todoCreate',
      'todoMarkDone todoRestore todoRestoreMany todosMarkAllDone todoSnooze todoUnSnooze timelogCreate',
      'timelogDelete timelineEventCreate timelineEventUpdate timelineEventDestroy',
      'timelineEventPromoteFromNote timelineEventTagCreate userPreferencesUpdate updateEpicBoardList',
      'uploadDelete workItemDelete workItemExport workItemSubscribe workItemAddLinkedItems',
      'workItemRemoveLinkedItems workItemAddClosingMergeRequest workItemsReorder',
      'workItemHierarchyAddChildrenItems designManagementDelete designManagementMove designManagementUpdate',
      'customerRelationsContactCreate customerRelationsContactUpdate customerRelationsOrganizationCreate',
      'customerRelationsOrganizationUpdate',
    ),
  },
  {
    effect: 'passes',
    because: 'a proposal; what it proposes is judged when it is merged',
    mutations: splitNames(
      'mergeRequestReviewerRereview mergeRequestSetAssignees mergeRequestSetDraft mergeRequestSetLabels',
      'mergeRequestSetLocked mergeRequestSetMilestone mergeRequestSetReviewers mergeRequestSetSubscription',
      'mergeRequestSetTimeEstimate mergeRequestRequestChanges',
    ),
  },
  {
    effect: 'passes',
    because: 'ends work; nothing starts by it',
    mutations: ['jobCancel', 'pipelineCancel', 'pipelineDestroy', 'jobArtifactsDestroy', 'artifactDestroy'],
  },
  {
    effect: 'approve',
    because: 'removes what blocks a merge; a merge that waits for it then proceeds',
    mutations: ['mergeRequestDestroyRequestedChanges', 'mergeRequestApprove'],
  },
  {
    effect: 'deploy',
    because: 'starts what the pipelines of the project do, or lets something ship that waited',
    mutations: splitNames(
      'approveDeployment jobPlay jobRetry bulkRetryJobs pipelineCreate pipelineRetry pipelineScheduleCreate',
      'pipelineScheduleUpdate pipelineSchedulePlay terraformStateUnlock environmentStop',
    ),
  },
  {
    effect: 'publish',
    because: 'publishes, or changes what is published already',
    mutations: splitNames(
      'releaseUpdate releaseDelete releaseAssetLinkCreate releaseAssetLinkUpdate releaseAssetLinkDelete',
      'destroyPackage destroyPackages destroyPackageFile destroyPackageFiles catalogResourcesCreate',
    ),
  },
  {
    effect: 'administer',
    because: 'changes what guards merges and deployments, or who and what may go around it',
    mutations: splitNames(
      'branchRuleCreate branchRuleDelete branchRuleUpdate branchRuleApprovalProjectRuleCreate',
      'branchRuleApprovalProjectRuleDelete branchRuleApprovalProjectRuleUpdate branchRuleSquashOptionUpdate',
      'projectSettingsUpdate projectCiCdSettingsUpdate importSourceUserReassign',
    ),
  },
]

export const GITLAB_MUTATIONS = createMutationTable(GROUPS)
