/**
 * How paths identify calls of the model providers, and the refusals of each provider, so that its own SDK shows the
 * reason.
 */
import { ERRORS } from '../../errors/errors.ts'
import type { Refusal } from '../common/action.ts'
import type { Answer } from '../../calls/answer.ts'
import type { CallHead } from '../../calls/call.ts'
import { briefMembers, httpRefusal, jsonAnswer, refusalMembers, refusalText } from '../common/refusal.ts'
import { isStoringPlace } from './stored-tools.ts'
import { readPath, withoutFormats } from '../../routing/path-reading.ts'
import { pathOf } from '../common/request-line.ts'

export interface ModelProvider {
  readonly name: string
  /** On the decoded path in lower case. */
  readonly path: RegExp
  readonly refuse: (refusal: Refusal) => Answer
}

/** The forms are those of the providers; whoever is compatible with one has its paths too. */
const PROVIDERS: readonly ModelProvider[] = [
  {
    name: 'openai',
    path: /\/(?:chat\/completions|responses(?:\/compact)?|assistants(?:\/[^/]+)?|runs(?:\/(?:stream|wait|batch|crons))?|(?:realtime|live)\/(?:sessions|client_secrets|calls)(?:\/[^/]+\/(?:accept|fork))?|conversations(?:\/[^/]+\/items)?|agents(?:\/[^/]+)?|agents\/sessions(?:\/[^/]+)?|invocations)$/,
    refuse: openaiRefusal,
  },
  {
    name: 'anthropic',
    path: /\/messages(?:\/batches)?$|\/sessions(?:\/[^/]+)?$|\/deployments(?:\/[^/]+)?$|:(?:stream)?rawpredict$/,
    refuse: anthropicRefusal,
  },
  {
    name: 'gemini',
    path: /:(?:stream|batch)?generatecontent$|:bidigeneratecontent$|:predict$|\/(?:cachedcontents|auth_tokens|interactions|triggers)(?:\/[^/]+)?$/,
    refuse: geminiRefusal,
  },
  {
    name: 'bedrock',
    // The end is looked for first: to look for the beginning first takes quadratic time.
    path: /\/(?:converse|converse-stream|invoke|invoke-with-(?:response|bidirectional)-stream)$(?<=\/model\/.+\/[^/]+)|\/async-invoke$/,
    refuse: bedrockRefusal,
  },
  { name: 'ollama', path: /\/api\/(?:v1\/)?chat$|\/v2\/chat$/, refuse: ollamaRefusal },
]

/** For requests with an unknown path that carry tools. */
export const OTHER: ModelProvider = { name: 'other', path: /$^/, refuse: httpRefusal }

/** Of a call's path, by any reading that servers have of it. Null when it has none. */
export interface CalledPath {
  readonly provider: ModelProvider
  /** In lower case, with and without formats behind the last name. */
  readonly paths: readonly string[]
}

export function calledPath(call: Pick<CallHead, 'upstreamPath'>): CalledPath | null {
  const reading = readPath(pathOf(call))
  if (reading === null) return null
  const { loose, earlier } = reading
  const paths = [loose.map(({ folded }) => folded), ...(earlier === null ? [] : [earlier])].flatMap((names) =>
    withoutFormats(names.at(-1) ?? '').map((name) => `/${[...names.slice(0, -1), name].join('/')}`),
  )
  const provider = PROVIDERS.find((one) => paths.some((path) => one.path.test(path))) ?? OTHER
  return { provider, paths }
}

/**
 * True where a path is known to accept tools: the body is then read as such a server reads it, whatever its stated
 * type.
 */
export function takesTools({ provider, paths }: CalledPath): boolean {
  return provider !== OTHER || isStoringPlace(paths)
}

/**
 * Whether a call may hold tools without their names: in protobuf and its like, or below the path of Google's RPC. There
 * JSON has members by number only.
 */
export function isBinaryForm({ headers }: Pick<CallHead, 'headers'>, { paths }: CalledPath): boolean {
  return UNNAMED.test(headers['content-type'] ?? '') || paths.some((path) => path.includes('/$rpc/'))
}

const UNNAMED = /^\s*application\/[\w.+-]*(?:protobuf|grpc|cbor|msgpack|thrift|avro|eventstream|java-serialized)/i

/** What a refusal is to a caller, whatever its status is. */
type RefusalKind = 'stopped' | 'unavailable' | 'malformed'

function kindOf({ code }: Refusal): RefusalKind {
  const { status } = ERRORS[code]
  if (status >= 500) return 'unavailable'
  return status === 403 || status === 428 ? 'stopped' : 'malformed'
}

/** The providers' own words, by which their SDKs choose the class of the error. */
const OPENAI_TYPES = { stopped: 'permission_error', unavailable: 'server_error', malformed: 'invalid_request_error' }
const ANTHROPIC_TYPES = { stopped: 'permission_error', unavailable: 'api_error', malformed: 'invalid_request_error' }
const BEDROCK_TYPES = {
  stopped: 'AccessDeniedException',
  unavailable: 'ServiceUnavailableException',
  malformed: 'ValidationException',
}
const GOOGLE_STATUSES = { stopped: 'PERMISSION_DENIED', unavailable: 'UNAVAILABLE', malformed: 'INVALID_ARGUMENT' }

function openaiRefusal(refusal: Refusal): Answer {
  const type = OPENAI_TYPES[kindOf(refusal)]
  return refusalAnswer(refusal, { error: { message: refusalText(refusal), type, param: 'tools', code: refusal.code } })
}

function anthropicRefusal(refusal: Refusal): Answer {
  const error = { type: ANTHROPIC_TYPES[kindOf(refusal)], message: refusalText(refusal) }
  return briefly(refusal, { type: 'error', error, request_id: refusal.correlationId })
}

function geminiRefusal(refusal: Refusal): Answer {
  const { status: code } = ERRORS[refusal.code]
  const status = code === 428 ? 'FAILED_PRECONDITION' : GOOGLE_STATUSES[kindOf(refusal)]
  return briefly(refusal, { error: { code, message: refusalText(refusal), status } })
}

function bedrockRefusal(refusal: Refusal): Answer {
  const answer = refusalAnswer(refusal, { message: refusalText(refusal) })
  return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': BEDROCK_TYPES[kindOf(refusal)] } }
}

function ollamaRefusal(refusal: Refusal): Answer {
  return refusalAnswer(refusal, { error: refusalText(refusal) })
}

/** The provider's members first, and ours where they leave room. */
function refusalAnswer(refusal: Refusal, own: Readonly<Record<string, unknown>>): Answer {
  return jsonAnswer(ERRORS[refusal.code].status, { ...own, preflight: refusalMembers(refusal) })
}

/** For SDKs whose error message is the body as it is. */
function briefly(refusal: Refusal, own: Readonly<Record<string, unknown>>): Answer {
  const { message: _said, ...preflight } = briefMembers(refusal)
  return jsonAnswer(ERRORS[refusal.code].status, { ...own, preflight })
}
