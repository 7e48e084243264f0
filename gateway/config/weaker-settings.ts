/**
 * Every setting with the direction in which it enforces less, or the reason why it cannot. One row for each leaf of the
 * configuration that a reload changes; settings that need a restart have none. A setting that cannot be ranked counts as weaker
 * when it changes.
 */
import { lookupTable } from '../../engine/base.ts'
import { NAMES_OUTSIDE_ALL } from '../protocols/kubernetes/kinds.ts'

export type Weakening =
  /**
   * A later value of the list enforces less; the values of one inner list enforce the same. An absent member is `absent`. With
   * the value `unjudged`, calls are forwarded without a decision.
   */
  | {
      readonly kind: 'ranked'
      readonly strictestFirst: readonly (string | readonly string[])[]
      readonly unjudged?: string
    }
  /** A number that enforces less when it is higher, or lower; absent means no limit. */
  | { readonly kind: 'number'; readonly weakerWhen: 'higher' | 'lower' }
  /** Entries that enforce less when they are added, or removed. `all` is the entry that includes every other one, except those `outside`. */
  | { readonly kind: 'list'; readonly weakerBy: 'more' | 'less'; readonly all?: AllEntry }
  /** An address that enforces less in plaintext: who is in between reads credentials and receipts, and sends other calls. */
  | { readonly kind: 'address' }
  /** Values without an order: a changed value counts as weaker. `isSet`: only when there was a value before. */
  | { readonly kind: 'changed'; readonly because: string; readonly isSet?: true }
  /** Compared as part of another leaf, or by a comparison of its own. */
  | { readonly kind: 'within'; readonly path: string }
  | { readonly kind: 'never'; readonly because: string }

interface AllEntry {
  readonly entry: string
  readonly outside: ReadonlySet<string>
}

const ranked = (...strictestFirst: readonly (string | readonly string[])[]): Weakening => ({
  kind: 'ranked',
  strictestFirst,
})
/** The last value forwards calls without a decision. */
const rankedToUnjudged = (...strictestFirst: readonly string[]): Weakening => ({
  kind: 'ranked',
  strictestFirst,
  unjudged: strictestFirst.at(-1) ?? '',
})
const HIGHER: Weakening = { kind: 'number', weakerWhen: 'higher' }
const LOWER: Weakening = { kind: 'number', weakerWhen: 'lower' }
const MORE: Weakening = { kind: 'list', weakerBy: 'more' }
const LESS: Weakening = { kind: 'list', weakerBy: 'less' }
const changed = (because: string): Weakening => ({ kind: 'changed', because })
const within = (path: string): Weakening => ({ kind: 'within', path })
const never = (because: string): Weakening => ({ kind: 'never', because })

const TRUE_FIRST = ranked('true', 'false')
const FALSE_FIRST = ranked('false', 'true')
const BY_RECEIPT = rankedToUnjudged('deny', 'receipt', 'pass')
const MATCHES = changed('calls may go by another route, or by none')
const JUDGED_BY = changed('calls are compared with another contract')
const NAMED_IN_RECEIPTS = changed('rules of the policy and receipts may be about the value before')
const WAITS = never('a waiting time; no call is forwarded without a decision meanwhile')
const REFUSED_PAST_IT = never('past it a change set is incomplete, and that is never allowed')

const NO_CREDENTIALS = never('without these credentials a change set cannot be derived, and that is never allowed')
const ACCEPTS = changed('deliveries that another secret signed are accepted')
const MESSAGES = never('messages only; a request waits for its decision all the same')

const RULE_OF_MAP = within('routes[].map')

/** By path, as `CONFIG_LEAVES` has it. */
export const WEAKENING: Readonly<Record<string, Weakening>> = lookupTable({
  public_url: never('an address for people and the issuer of receipts'),
  tier: ranked('verifier', 'gateway', 'sidecar'),
  policy: within('policy'),
  policy_pin: { kind: 'changed', because: 'drift from the previous pin is no longer reported', isSet: true },
  'log.requests': never('more or fewer records of requests; what is decided and enforced stays'),
  'log.level': ranked(['trace', 'debug', 'info', 'warn'], 'error', 'fatal', 'silent'),
  'limits.artifacts': HIGHER,
  'limits.request_body': HIGHER,
  'limits.artifact_side': HIGHER,
  'limits.depth': HIGHER,
  'limits.aliases': HIGHER,
  'limits.expansion': HIGHER,
  'limits.proxied_body': HIGHER,
  'limits.body_timeout': HIGHER,
  'limits.body_rate': LOWER,
  'limits.analysis': HIGHER,
  'limits.held_calls': never('further calls are answered immediately, not forwarded'),
  'limits.connections': HIGHER,
  'diff.allow_urls': MORE,
  'diff.repository': changed('callers can read another repository, and git sources are of another one'),
  'diff.findings': never('the number listed; all are counted'),
  'signup.enabled': ranked('false', 'absent', 'true'),
  'rate.per_minute': HIGHER,
  plans: changed('a plan may allow more requests, or a key may have another plan'),
  'hub.tokens.issuer': changed('tokens of another issuer are accepted'),
  'hub.tokens.audience': changed('tokens for another audience are accepted'),
  'hub.tokens.keys': changed('tokens that other keys signed are accepted'),
  'hub.tokens.ca_file': changed('other authorities certify the server of the keys'),
  'hub.tokens.token_file': never('how the keys of the issuer are asked for'),
  'hub.certificates': FALSE_FIRST,
  'hub.keys': changed('another key may connect, or with another tenant or role'),
  'hub.keys[].name': within('hub.keys'),
  'hub.keys[].tenant': within('hub.keys'),
  'hub.keys[].sha256': within('hub.keys'),
  'hub.keys[].role': within('hub.keys'),
  'hub.people': FALSE_FIRST,
  'hub.identities': changed('other callers may connect, or with another tenant or role'),
  'hub.identities[].namespace': within('hub.identities'),
  'hub.identities[].service_account': within('hub.identities'),
  'hub.identities[].tenant': within('hub.identities'),
  'hub.identities[].role': within('hub.identities'),
  'hub.clock_skew': HIGHER,
  'status_list.ttl': HIGHER,
  'status_list.lifetime': HIGHER,
  'approvals.four_eyes': TRUE_FIRST,
  'approvals.validity': HIGHER,
  'approvals.pending': LOWER,
  'approvals.needed': LOWER,
  'approvals.remind': never('it tells people and decides nothing'),
  'approvals.needed_by_group': changed('fewer people may have to grant a request'),
  'console.trace_url': never('an address for people'),
  'console.enabled': never('people decide over the API under the same rules'),
  'console.session': HIGHER,
  'console.providers': changed('other people may sign in, or with other rights'),
  'console.providers[].name': within('console.providers'),
  'console.providers[].title': within('console.providers'),
  'console.providers[].issuer': within('console.providers'),
  'console.providers[].client_id': within('console.providers'),
  'console.providers[].client_secret': within('console.providers'),
  'console.providers[].scopes': within('console.providers'),
  'console.providers[].groups_claim': within('console.providers'),
  'console.providers[].roles': within('console.providers'),
  'console.providers[].roles[].group': within('console.providers'),
  'console.providers[].roles[].role': within('console.providers'),
  'console.providers[].tenant': within('console.providers'),
  'console.providers[].session': within('console.providers'),
  'notifications.channels': MESSAGES,
  'notifications.channels[].type': within('notifications.channels'),
  'notifications.channels[].url': within('notifications.channels'),
  'notifications.channels[].secret': within('notifications.channels'),
  'notifications.channels[].token': within('notifications.channels'),
  'notifications.channels[].channel': within('notifications.channels'),
  'notifications.channels[].api': within('notifications.channels'),
  'notifications.channels[].name': within('notifications.channels'),
  'notifications.channels[].events': within('notifications.channels'),
  'notifications.channels[].groups': within('notifications.channels'),
  'notifications.channels[].routes': within('notifications.channels'),
  'notifications.channels[].environments': within('notifications.channels'),
  'notifications.channels[].tenants': within('notifications.channels'),
  'notifications.channels[].min_risk': within('notifications.channels'),
  'notifications.channels[].smtp': within('notifications.channels'),
  'notifications.channels[].from': within('notifications.channels'),
  'notifications.channels[].to': within('notifications.channels'),
  'notifications.timeout': MESSAGES,
  'notifications.give_up': MESSAGES,
  'break_glass.roles': MORE,
  'break_glass.maximum': HIGHER,
  consumers: LESS,
  'consumers[].name': within('consumers'),
  'consumers[].uses': within('consumers'),
  'consumers[].uses[].artifact': within('consumers'),
  'consumers[].uses[].operation': within('consumers'),
  'consumers[].uses[].tool': within('consumers'),
  'egress.default': ranked('deny', 'allow'),
  'egress.allow': MORE,
  'egress.deny': LESS,
  'egress.tunnel': MORE,
  'egress.idle': HIGHER,
  proxy_auth: ranked('required', 'off'),
  'transparent.http_port': changed('redirected calls may go by another route'),
  'transparent.https_port': changed('redirected calls may go by another route'),
  'injector.image': changed('pods get another sidecar'),
  'injector.image_pull_policy': never('which image is used is stated by injector.image'),
  'injector.mode': ranked('transparent', 'explicit'),
  'injector.allowed_modes': MORE,
  'injector.run_as': changed('containers may have the user whose connections are not redirected'),
  'injector.config_map': changed('pods get another configuration'),
  'injector.ipv6': ranked(['reject', 'redirect']),
  'injector.opt_out': FALSE_FIRST,
  'injector.ignored_namespaces': MORE,
  'injector.cpu': never('resources of the sidecar'),
  'injector.memory': never('resources of the sidecar'),
  'injector.memory_limit': never('resources of the sidecar'),
  'injector.hub.url': changed('sidecars of new pods trust another state'),
  'injector.hub.audience': never('a hub accepts its own audience only'),
  'observed_consumers.window': LOWER,
  'observed_consumers.limit': LOWER,
  'scm.github.api': changed('another server defines the change'),
  'scm.github.app.id': NO_CREDENTIALS,
  'scm.github.app.key_file': never(
    'without these credentials a change set cannot be derived, and that is never allowed',
  ),
  'scm.github.token_file': NO_CREDENTIALS,
  'scm.gitlab.token_file': NO_CREDENTIALS,
  'scm.bitbucket.token_file': NO_CREDENTIALS,
  'scm.github.webhook.secret_file': ACCEPTS,
  'scm.gitlab.webhook.secret_file': ACCEPTS,
  'scm.bitbucket.webhook.secret_file': ACCEPTS,
  'scm.checks.name': changed('the check that a branch requires may have the name before'),
  'scm.checks.tenant': changed('bindings of another tenant count'),
  'scm.checks.environment': changed('the policy may have rules for the environment before'),
  'scm.checks.give_up': never('a check that is given up is not a success'),
  'scm.gitlab.api': changed('another server defines the change'),
  'scm.bitbucket.api': changed('another server defines the change'),
  'scm.contracts.types': LESS,
  'scm.contracts.globs': changed('entries exclude what others include, and their order counts'),
  'scm.max_contracts': REFUSED_PAST_IT,
  'scm.max_requests': REFUSED_PAST_IT,
  'scm.timeout': WAITS,
  'scm.challenge': HIGHER,
  consumers_file: within('consumers'),
  reload: ranked('refuse_weaker', 'apply'),
  'shutdown.drain': WAITS,
  routes: within('routes'),
  'routes[].name': within('routes'),
  'routes[].match.host': MATCHES,
  'routes[].match.path': MATCHES,
  // The decision is the same for every upstream.
  'routes[].upstream': { kind: 'address' },
  'routes[].protocol': changed('calls are read in another way'),
  'routes[].contract.baseline': JUDGED_BY,
  'routes[].contract.current': JUDGED_BY,
  'routes[].contract.origins': MORE,
  'routes[].contract.refresh': HIGHER,
  'routes[].contract.listing_headers': changed('calls are compared with listings that answered other requests'),
  'routes[].contract.max_age': HIGHER,
  'routes[].contract.watch': never('calls depend on contract.refresh, with or without polling'),
  'routes[].contract.auto_promote': ranked('none', 'info'),
  'routes[].operation': NAMED_IN_RECEIPTS,
  'routes[].environment': NAMED_IN_RECEIPTS,
  'routes[].mode': rankedToUnjudged('enforce', 'observe'),
  'routes[].failure': rankedToUnjudged('closed', 'open'),
  'routes[].tenants': MORE,
  'routes[].receipts.attach': never('a destination that asks for receipts refuses calls without one'),
  'routes[].receipts.envelope': never('the receipt is what a destination verifies'),
  'routes[].receipts.accept': FALSE_FIRST,
  'routes[].receipts.require': TRUE_FIRST,
  'routes[].receipts.consume': TRUE_FIRST,
  'routes[].hold': WAITS,
  'routes[].kubernetes.receipts': {
    kind: 'list',
    weakerBy: 'less',
    all: { entry: '*', outside: NAMES_OUTSIDE_ALL },
  },
  'routes[].kubernetes.contracts': LESS,
  'routes[].kubernetes.receipt_binds': ranked('content', 'name'),
  'routes[].kubernetes.streams': BY_RECEIPT,
  'routes[].edits.judge': TRUE_FIRST,
  'routes[].edits.read': changed('another tool defines the content of a file'),
  'routes[].edits.write': LESS,
  'routes[].edits.ignore': MORE,
  'routes[].edits.operation': NAMED_IN_RECEIPTS,
  'routes[].argocd.namespace': changed('receipts name applications of another namespace'),
  'routes[].validate': ranked('enforce', 'observe', 'off'),
  'routes[].npm.unpublish': BY_RECEIPT,
  'routes[].npm.deprecate': BY_RECEIPT,
  'routes[].npm.owners': BY_RECEIPT,
  'routes[].grpc.pass': MORE,
  'routes[].graphql.introspect': JUDGED_BY,
  'routes[].graphql.documents': changed('ids may name other documents'),
  'routes[].llm.agents': changed('calls of an agent use another baseline, or are accepted at all'),
  'routes[].llm.agent_header': changed('calls may be those of another agent'),
  'routes[].llm.agent_field': changed('calls may be those of another agent'),
  'routes[].llm.stored_tools': BY_RECEIPT,
  'routes[].map': changed('the first rule that matches decides, so every rule and their order count'),
  'routes[].map[].when': RULE_OF_MAP,
  'routes[].map[].action': RULE_OF_MAP,
  'routes[].map[].operation': RULE_OF_MAP,
  'routes[].map[].target': RULE_OF_MAP,
  'routes[].map[].repository': RULE_OF_MAP,
  'routes[].map[].branch': RULE_OF_MAP,
  'routes[].map[].pull_request': RULE_OF_MAP,
  'routes[].map[].base': RULE_OF_MAP,
  'routes[].map[].head': RULE_OF_MAP,
  'routes[].map[].artifact.type': RULE_OF_MAP,
  'routes[].map[].artifact.before': RULE_OF_MAP,
  'routes[].map[].artifact.after': RULE_OF_MAP,
  'routes[].map[].message': RULE_OF_MAP,
  'routes[].otherwise': rankedToUnjudged('deny', 'absent', 'pass'),
  'routes[].upgrade': rankedToUnjudged('judged', 'allow'),
  'routes[].upstream_protocol': never('how the same call is sent'),
  'routes[].timeout.connect': WAITS,
  'routes[].timeout.headers': WAITS,
  'routes[].timeout.idle': WAITS,
  'routes[].scm.protected_branches': LESS,
  'routes[].scm.protected_tags': LESS,
  'routes[].scm.push': BY_RECEIPT,
  'routes[].scm.auto_merge': ranked('deny', 'judge'),
  'routes[].scm.require_head': TRUE_FIRST,
  'routes[].scm.workflows': LESS,
  'routes[].tls.upstream_ca': changed('other authorities certify the upstream'),
})
