/** The context of a change, as options of several commands. */

/** Option → member of `context` on the wire. */
export const CONTEXT_OPTIONS = [
  {
    name: 'operation',
    member: 'operation',
    help: 'The operation: tool_call, merge, deploy, publish, register …; required to authorize.',
  },
  { name: 'environment', member: 'environment', help: 'Environment of the operation.' },
  { name: 'target-id', member: 'target_id', help: 'Target of the operation.' },
  { name: 'repository', member: 'repository', help: 'Repository of the change.' },
  { name: 'branch', member: 'branch', help: 'Branch of the change.' },
  { name: 'pull-request', member: 'pull_request', help: 'Pull request of the change.' },
  { name: 'base', member: 'base', help: 'Base ref of the change.' },
  { name: 'head', member: 'head', help: 'Head ref of the change.' },
] as const
