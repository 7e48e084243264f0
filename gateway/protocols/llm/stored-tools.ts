/**
 * Calls whose tools the provider stores: stored prompts, assistants, agents, cached contents, files of batches. Their
 * tools are not in the call, so each resource that a call names needs a receipt. The rows are data; the test covers all
 * of them.
 */
import { isJsonObject } from '../../json/strict-json.ts'
import type { BodyPart } from './body-parts.ts'

/** A member of a body, at any part, that names a thing with tools of its own. */
interface ReferenceRow {
  readonly members: readonly string[]
  /** Only values of this form name such a thing. */
  readonly form: 'text' | 'object' | 'text or object' | 'list'
  /** Where the tools of the same part take the place of the stored ones. */
  readonly overriddenAt?: RegExp
  /** Only values with a text like this name such a thing. */
  readonly value?: RegExp
  /** Only below these paths; absent: everywhere. */
  readonly path?: RegExp
  readonly because: string
}

/** A path where resources with tools are run or created, whatever the body contains. */
interface PlaceRow {
  /** Matches the path that identifies the provider: decoded, in lower case. Absent: everywhere. */
  readonly path?: RegExp
  /** Only bodies with this member; absent: all of them. */
  readonly member?: string
  /** Not bodies with this list: it holds all calls. */
  readonly inline?: string
  readonly because: string
}

const REFERENCES: readonly ReferenceRow[] = [
  { members: ['prompt'], form: 'object', because: 'a stored prompt has tools of its own' },
  {
    members: ['assistant_id', 'assistantId'],
    form: 'text',
    // Elsewhere the tools are those of a graph, whatever the call states (LangGraph).
    overriddenAt: /\/(?:v1|openai|projects\/[^/]+)\/threads\/(?:[^/]+\/)?runs$/,
    because: 'a stored assistant has tools of its own',
  },
  { members: ['prompt_id', 'promptId'], form: 'text', because: 'a stored prompt has tools of its own' },
  { members: ['agent_id', 'agentId'], form: 'text', because: 'a stored agent has tools of its own' },
  { members: ['agent_reference'], form: 'text or object', because: 'a stored agent has tools of its own' },
  {
    members: ['agent'],
    form: 'text or object',
    path: /\/(?:interactions|responses|sessions|deployments|triggers)(?:\/[^/]+)?$/,
    because: 'a stored agent has tools of its own',
  },
  { members: ['workflow'], form: 'text or object', path: /\/chatkit\//, because: 'a workflow has tools of its own' },
  {
    members: ['input_file_id', 'inputFileId'],
    form: 'text',
    because: 'the calls of the batch stand in a file that went by before',
  },
  { members: ['input_files', 'inputFiles'], form: 'list', because: 'the calls of the batch stand in files' },
  {
    members: ['file_name', 'fileName'],
    form: 'text',
    path: /:batchgeneratecontent$/,
    because: 'the calls stand in a file',
  },
  {
    members: ['cachedContent', 'cached_content'],
    form: 'text',
    because: 'cached contents may hold tools',
  },
  { members: ['skills'], form: 'list', because: 'a skill is code and text that the provider keeps' },
  {
    members: ['preset'],
    form: 'text',
    path: /\/(?:responses|completions|agent)$/,
    because: 'a preset has tools of its own',
  },
  // OpenRouter: a preset as the model, or behind it.
  { members: ['model'], form: 'text', value: /@preset\//, because: 'a preset has tools of its own' },
  { members: ['models'], form: 'list', value: /@preset\//, because: 'a preset has tools of its own' },
  { members: ['bot_id'], form: 'text', path: /\/chat$/, because: 'a bot has tools of its own' },
  { members: ['connectors'], form: 'list', path: /\/chat$/, because: 'a connector is a tool that the provider keeps' },
]

const PLACES: readonly PlaceRow[] = [
  { path: /(?<!\/messages)\/batches$/, because: 'the calls of a batch stand in a file' },
  { path: /\/batch\/jobs$/, inline: 'requests', because: 'the calls of a batch stand in files' },
  { path: /\/evals\/[^/]+\/runs$/, because: 'the calls of an evaluation stand in a file or in stored answers' },
  { path: /\/agents\/completions$/, because: 'a stored agent has tools of its own' },
  { path: /\/conversations\/[^/]+(?:\/restart)?$/, member: 'inputs', because: 'the conversation keeps its tools' },
  { path: /\/sessions\/[^/]+\/events$/, because: 'the agent of a session has tools of its own' },
  { path: /\/deployments\/[^/]+\/(?:run|unpause)$/, because: 'the agent of a deployment has tools of its own' },
  { path: /\/automations(?:\/[^/]+)?$/, member: 'target', because: 'the agent of an automation has tools of its own' },
  { path: /\/automations\/[^/]+\/(?:invocations|resume)$/, because: 'the agent of an automation has tools of its own' },
  { path: /\/triggers\/[^/]+\/executions$/, because: 'the agent of a trigger has tools of its own' },
  {
    path: /\/agents(?:\/[^/]+)?$/,
    member: 'multi_agent',
    because: 'agents that work together have tools of their own',
  },
  { path: /\/agents(?:\/[^/]+)?$/, member: 'multiagent', because: 'agents that work together have tools of their own' },
  { path: /\/chatkit\/sessions$/, because: 'a workflow has tools of its own' },
  {
    path: /\/agents\/[^/]+\/agentaliases\/[^/]+\/sessions\/[^/]+\/text$/,
    because: 'a stored agent has tools of its own',
  },
  {
    path: /\/agents\/[^/]+\/agentversions\/[^/]+\/(?:actiongroups|agentcollaborators|knowledgebases)(?:\/[^/]+)?$/,
    because: 'it changes the tools of a stored agent',
  },
  ...['actionGroups', 'collaborators', 'collaboratorConfigurations', 'knowledgeBases'].map((member) => ({
    path: /\/agents\/[^/]+$/,
    member,
    because: 'it gives tools to an agent in a form that is not compared',
  })),
  { path: /\/agents\/[^/]+\/agentaliases(?:\/[^/]+)?$/, because: 'it changes the tools of a stored agent' },
  {
    path: /\/skills\/[^/]+(?:\/versions(?:\/[^/]+)?)?$/,
    because: 'calls that name the skill get other code and text',
  },
  { path: /\/flows\/[^/]+\/aliases\/[^/]+(?:\/executions)?$/, because: 'a flow has tools of its own' },
  { path: /\/bots\/chat\/completions$/, because: 'a bot has tools of its own' },
  { path: /\/apps\/(?:agent\/.+|[^/]+\/completion)$/, because: 'an application has tools of its own' },
  { path: /\/prompts\/[^/]+\/completions$/, because: 'a stored prompt has tools of its own' },
  { path: /\/retrieveandgenerate(?:stream)?$/, because: 'a knowledge base is a tool that the provider keeps' },
  { path: /\/batchinferencejobs$/, because: 'the calls of a batch stand in a file' },
  { path: /\/endpoints\/[^/]+\/async-invocations$/, because: 'the call stands in a file' },
  { path: /\/invocations$(?<=\/runtimes\/.+\/[^/]+)/, because: 'a hosted agent has tools of its own' },
  { path: /\/model-invocation-job$/, because: 'the calls of a batch stand in a file' },
  {
    path: /\/(?:converse|converse-stream|invoke|invoke-with-(?:response|bidirectional)-stream)$(?<=\/model\/arn:[^/]*:prompt\/.+\/[^/]+)/,
    because: 'a stored prompt has tools of its own',
  },
  { path: /\/batchpredictionjobs$/, because: 'the calls of a batch stand in a file' },
  { path: /\/reasoningengines\/[^/]+:\w*query$/, because: 'a hosted agent has tools of its own' },
  {
    path: /\/message:(?:send|stream)$|:(?:\w*detectintent|\w*runsession|\w*assist)$/,
    because: 'a hosted agent has tools of its own',
  },
  { member: 'jsonrpc', because: 'it calls an agent or a server of tools by JSON-RPC' },
  { path: /\/applications\/[^/]+\/protocols\/.+$/, because: 'a published agent has tools of its own' },
]

/** For the reading of bodies: members that count. */
export const REFERENCE_MEMBERS: readonly string[] = [
  // A model may be an object that holds tools.
  ...REFERENCES.flatMap(({ members, value }) => (value === undefined ? members : [])),
  ...PLACES.flatMap(({ member }) => member ?? []),
]

export interface StoredTools {
  /** As the receipt names it, behind the contract: `prompt:pmpt_1@2`, `POST /v1/batches`. */
  readonly name: string
  readonly because: string
}

interface StoringCall {
  /** Method and path as they are sent: `POST /v1/batches`. */
  readonly name: string
  /** Readings of the path, in lower case. */
  readonly paths: readonly string[]
  readonly parts: readonly BodyPart[]
  /** JSON Pointer of the member that names the caller's agent; absent: none does. */
  readonly ownField: string | undefined
}

/** Whether a path is a place where tools may be kept, so that its body is read whatever it is said to be. */
export function isStoringPlace(paths: readonly string[]): boolean {
  return PLACES.some((row) => paths.some((path) => row.path?.test(path)))
}

/** All things that the call names and whose tools are not in it; none: all its tools are in the call. */
export function storedToolsOf({ name: calledAs, paths, parts, ownField }: StoringCall): readonly StoredTools[] {
  const found = new Map<string, StoredTools>()
  for (const [index, part] of parts.entries())
    for (const row of REFERENCES)
      for (const member of row.members) {
        const isOwn = index === 0 && ownField === `/${member}`
        if (isOwn || !isReference(row, part, member, paths)) continue
        const name = `${member}:${referenceName(part[member])}`
        found.set(name, { name, because: row.because })
      }
  if (found.size > 0) return [...found.values()]
  const place = PLACES.find(
    ({ path, member, inline }) =>
      paths.some((one) => path?.test(one) ?? true) &&
      (member === undefined || parts.some((part) => part[member] !== undefined)) &&
      !(inline !== undefined && Array.isArray(parts[0]?.[inline])),
  )
  return place === undefined ? [] : [{ name: calledAs, because: place.because }]
}

function isReference(row: ReferenceRow, part: BodyPart, member: string, paths: readonly string[]): boolean {
  const value = part[member]
  if (value === undefined || value === null || value === '') return false
  if (row.path !== undefined && !paths.some((path) => row.path?.test(path))) return false
  if (row.value !== undefined && ![value].flat().some((one) => typeof one === 'string' && row.value?.test(one)))
    return false
  const isOverridden = Array.isArray(part['tools']) && paths.some((path) => row.overriddenAt?.test(path))
  if (isOverridden) return false
  if (Array.isArray(value)) return row.form === 'list' && value.length > 0
  if (isJsonObject(value)) return row.form.endsWith('object')
  return row.form !== 'object'
}

/** What a reference names, in a form that a receipt can hold. */
function referenceName(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(referenceName).toSorted().join(',')
  if (!isJsonObject(value)) return String(value)
  const name = value['id'] ?? value['skill_id'] ?? value['name']
  const { version } = value
  if (typeof name !== 'string') return JSON.stringify(value)
  return typeof version === 'string' || typeof version === 'number' ? `${name}@${version}` : name
}
