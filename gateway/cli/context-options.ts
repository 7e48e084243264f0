/** What the command line can say of the change, as options of several commands. */

/** Option → member of `context` on the wire. */
export const CONTEXT_OPTIONS = [
  {
    name: 'operation',
    member: 'operation',
    help: 'What is to be done: tool_call, merge, deploy, publish, register …; required to authorize.',
  },
  { name: 'environment', member: 'environment', help: 'Where it is to be done.' },
  { name: 'target-id', member: 'target_id', help: 'What it is to be done to.' },
  { name: 'repository', member: 'repository', help: 'Repository of the change.' },
  { name: 'branch', member: 'branch', help: 'Branch of the change.' },
  { name: 'pull-request', member: 'pull_request', help: 'Pull request of the change.' },
  { name: 'base', member: 'base', help: 'Ref that the change starts from.' },
  { name: 'head', member: 'head', help: 'Ref that the change ends at.' },
] as const
