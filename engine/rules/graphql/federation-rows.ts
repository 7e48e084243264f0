/**
 * The meaning of changes of federation directives in a subgraph: for composition, for the router that plans over all
 * subgraphs, and for clients of the composed graph.
 */
import {
  federationTerm,
  isFederationDirective,
  type FederationDirective,
  type FederationDirectives,
} from '../../contracts/graphql/federation.ts'
import type { Direction, Level } from '../../model/finding.ts'
import type { Effect } from '../rule.ts'
import { KEEP_OLD, NOTHING_TO_DO, type GraphqlRow } from './row.ts'

/** The changes of a directive at one place. `changed` concerns its arguments. */
const USAGE_ACTIONS = ['added', 'removed', 'changed', 'loosened'] as const
type UsageAction = (typeof USAGE_ACTIONS)[number]

export type FederationRuleId = `graphql-federation-${string}`

type FederationVerdict = readonly [level: Level, effect: Effect, why: string, fix?: string]

interface DirectiveVerdicts<HasArguments extends boolean = boolean> {
  readonly direction: Direction
  readonly verdicts: Readonly<Record<'added' | 'removed', FederationVerdict>> & {
    /** Null if the directive has nothing that could change. */
    readonly changed: HasArguments extends true ? FederationVerdict : null
    /** Every client that had the rights still has them, or every subgraph that could refer to the entity still can. */
    readonly loosened?: FederationVerdict
  }
}

const ROUTES = 'The router fetches the field elsewhere, or by another way, than before.'
const CHECK = 'Compose the graph with the other subgraphs before the change takes effect.'
const ACCESS = 'Clients without the right to what is now guarded get an error or null.'
const OPENED = 'What was guarded is now given to clients that had no right to it.'

/** The meaning of each directive's changes. */
const DIRECTIVE_VERDICTS: { readonly [Name in FederationDirective]: DirectiveVerdicts<FederationDirectives[Name]> } = {
  key: {
    direction: 'none',
    verdicts: {
      added: ['info', 'widens', 'Other subgraphs may refer to the entity in one more way.'],
      removed: ['breaking', 'narrows', 'Subgraphs that refer to the entity by this key cannot be resolved.', KEEP_OLD],
      changed: ['breaking', 'moves', 'Subgraphs that refer to the entity by the old key cannot be resolved.', KEEP_OLD],
      loosened: ['info', 'widens', 'Other subgraphs may refer to the entity by this key from now on.'],
    },
  },
  inaccessible: {
    direction: 'none',
    verdicts: {
      added: ['breaking', 'narrows', 'It disappears from the graph that clients see.', KEEP_OLD],
      removed: ['dangerous', 'may-widen', 'Clients now see what was hidden from them.', 'Check that it may be public.'],
      changed: null,
    },
  },
  shareable: {
    direction: 'none',
    verdicts: {
      added: ['info', 'widens', 'Other subgraphs may resolve it too.'],
      removed: ['breaking', 'narrows', 'Composition fails where another subgraph resolves it too.', CHECK],
      changed: null,
    },
  },
  external: {
    direction: 'none',
    verdicts: {
      added: ['dangerous', 'may-narrow', 'The subgraph no longer resolves the field: another one must.', CHECK],
      removed: ['dangerous', 'may-widen', 'The subgraph now resolves the field: two may, where one may only.', CHECK],
      changed: null,
    },
  },
  requires: {
    direction: 'none',
    verdicts: {
      added: ['dangerous', 'may-narrow', 'The router must fetch more from other subgraphs first.', CHECK],
      removed: ['info', 'widens', 'The subgraph needs less from others.'],
      changed: ['dangerous', 'may-narrow', 'The router must fetch something else from other subgraphs first.', CHECK],
    },
  },
  provides: {
    direction: 'none',
    verdicts: {
      added: ['dangerous', 'may-narrow', ROUTES, CHECK],
      removed: ['dangerous', 'may-narrow', ROUTES, CHECK],
      changed: ['dangerous', 'may-narrow', ROUTES, CHECK],
    },
  },
  override: {
    direction: 'none',
    verdicts: {
      added: ['dangerous', 'may-narrow', ROUTES, CHECK],
      removed: ['dangerous', 'may-narrow', ROUTES, CHECK],
      changed: ['dangerous', 'may-narrow', ROUTES, CHECK],
    },
  },
  interfaceObject: {
    direction: 'none',
    verdicts: {
      added: ['dangerous', 'may-narrow', 'The type stands for an interface of other subgraphs from now on.', CHECK],
      removed: ['dangerous', 'may-narrow', 'The type no longer stands for an interface of other subgraphs.', CHECK],
      changed: null,
    },
  },
  link: {
    direction: 'none',
    verdicts: {
      added: ['dangerous', 'may-narrow', 'Directives get their meaning from the specification that is linked.', CHECK],
      removed: ['dangerous', 'may-narrow', 'Directives lose the meaning that the specification gave them.', CHECK],
      changed: ['dangerous', 'may-narrow', 'Another version can give directives another meaning.', CHECK],
    },
  },
  authenticated: {
    direction: 'request',
    verdicts: {
      added: ['breaking', 'narrows', ACCESS, KEEP_OLD],
      removed: ['dangerous', 'may-widen', OPENED, 'Check that it may be public.'],
      changed: null,
    },
  },
  requiresScopes: {
    direction: 'request',
    verdicts: {
      added: ['breaking', 'narrows', ACCESS, KEEP_OLD],
      removed: ['dangerous', 'may-widen', OPENED, 'Check that it may be public.'],
      changed: ['breaking', 'moves', ACCESS, 'Accept the old scopes beside the new ones for a while.'],
      loosened: ['dangerous', 'may-widen', OPENED, 'Check that they may have it.'],
    },
  },
  policy: {
    direction: 'request',
    verdicts: {
      added: ['breaking', 'narrows', ACCESS, KEEP_OLD],
      removed: ['dangerous', 'may-widen', OPENED, 'Check that it may be public.'],
      changed: ['breaking', 'moves', ACCESS, 'Accept the old policies beside the new ones for a while.'],
      loosened: ['dangerous', 'may-widen', OPENED, 'Check that they may have it.'],
    },
  },
}

/** The directive with its arguments is shown if they matter. */
function sentencesOf(directive: string, action: UsageAction, hasArguments: boolean): string {
  if (action === 'changed') return `\`@${directive}\` on {name} changed from {before} to {after}`
  if (action === 'loosened') return `\`@${directive}\` on {name} was loosened from {before} to {after}`
  const [verb, shown] = action === 'added' ? ['put on', '{after}'] : ['taken from', '{before}']
  return `\`@${directive}\` was ${verb} {name}${hasArguments ? `: ${shown}` : ''}`
}

const HIDDEN_REMOVED: GraphqlRow = {
  level: 'dangerous',
  direction: 'none',
  area: 'graphql-federation',
  kind: 'inaccessible',
  action: 'removed',
  effect: 'may-narrow',
  sentence: 'the element `{name}`, which clients do not see, was removed (@inaccessible)',
  why: 'Other subgraphs may need what is @inaccessible to clients, in @requires or in a key.',
  fix: CHECK,
}

const HIDDEN_CHANGED: GraphqlRow = {
  ...HIDDEN_REMOVED,
  action: 'changed',
  sentence: '{detail}; clients do not see it (@inaccessible)',
}

/** What breaks the composition of the graph, whether clients see the element or not. */
export const OF_COMPOSITION: ReadonlySet<string> = new Set<FederationRuleId>([
  'graphql-federation-key-removed',
  'graphql-federation-key-changed',
  'graphql-federation-shareable-removed',
])

export function federationRows(): readonly (readonly [id: string, row: GraphqlRow])[] {
  return [
    ['graphql-federation-inaccessible-element-changed', HIDDEN_CHANGED],
    ['graphql-federation-inaccessible-element-removed', HIDDEN_REMOVED],
    ...directiveRows(),
  ]
}

function directiveRows(): readonly (readonly [id: string, row: GraphqlRow])[] {
  return Object.keys(DIRECTIVE_VERDICTS)
    .filter(isFederationDirective)
    .flatMap((directive) => {
      const { direction, verdicts }: DirectiveVerdicts = DIRECTIVE_VERDICTS[directive]
      return USAGE_ACTIONS.flatMap((action) => {
        const verdict = verdicts[action]
        if (verdict === null || verdict === undefined) return []
        const [level, effect, why, fix = NOTHING_TO_DO] = verdict
        const row: GraphqlRow = {
          level,
          direction,
          area: 'graphql-federation',
          kind: directive,
          action,
          effect,
          sentence: sentencesOf(directive, action, verdicts.changed !== null),
          why,
          fix,
        }
        return [[`graphql-federation-${federationTerm(directive)}-${action}`, row] as const]
      })
    })
}
