/** How calls of the model providers are told by their paths, and how each provider says no, so that its own SDK shows why. */
import { ERRORS } from '../../errors.ts'
import type { Answer, CallHead, Refusal } from '../action.ts'
import { httpRefusal, jsonAnswer, refusalMembers, refusalText } from '../refusal.ts'
import { segmentsOf } from '../scm-request.ts'

export interface Provider {
  readonly name: string
  /** On the decoded path in lower case. */
  readonly path: RegExp
  readonly refuse: (refusal: Refusal) => Answer
}

/** The forms are those of the providers; whoever is compatible with one has its paths too. */
const PROVIDERS: readonly Provider[] = [
  {
    name: 'openai',
    path: /\/(?:chat\/completions|responses|assistants(?:\/[^/]+)?|threads\/runs|threads\/[^/]+\/runs|realtime\/(?:sessions|client_secrets|calls))$/,
    refuse: openaiRefusal,
  },
  { name: 'anthropic', path: /\/messages(?:\/batches)?$|:(?:stream)?rawpredict$/, refuse: anthropicRefusal },
  {
    name: 'gemini',
    path: /:(?:stream|batch)?generatecontent$|:bidigeneratecontent$|\/cachedcontents$|\/interactions$/,
    refuse: geminiRefusal,
  },
  {
    name: 'bedrock',
    path: /\/model\/[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)$/,
    refuse: bedrockRefusal,
  },
  { name: 'ollama', path: /\/api\/chat$|\/v2\/chat$/, refuse: ollamaRefusal },
]

/** For requests of no known path that carry tools all the same. */
export const OTHER: Provider = { name: 'other', path: /$^/, refuse: httpRefusal }

/** Null when the path cannot be decoded. */
export function providerOf({ upstreamPath }: Pick<CallHead, 'upstreamPath'>): Provider | null {
  const segments = segmentsOf(upstreamPath)
  if (segments === null) return null
  const path = `/${segments.join('/').toLowerCase()}`
  return PROVIDERS.find((provider) => provider.path.test(path)) ?? OTHER
}

/** True where a path is known to take tools: then the body is read as what such a server reads, whatever its type is said to be. */
export function takesTools(provider: Provider): boolean {
  return provider !== OTHER
}

function openaiRefusal(refusal: Refusal): Answer {
  const error = { message: refusalText(refusal), type: 'permission_error', param: 'tools', code: refusal.code }
  return told(refusal, { error })
}

function anthropicRefusal(refusal: Refusal): Answer {
  const error = { type: 'permission_error', message: refusalText(refusal) }
  return told(refusal, { type: 'error', error, request_id: refusal.correlationId })
}

function geminiRefusal(refusal: Refusal): Answer {
  const error = { code: ERRORS[refusal.code].status, message: refusalText(refusal), status: 'PERMISSION_DENIED' }
  return told(refusal, { error })
}

function bedrockRefusal(refusal: Refusal): Answer {
  const answer = told(refusal, { message: refusalText(refusal) })
  return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': 'AccessDeniedException' } }
}

function ollamaRefusal(refusal: Refusal): Answer {
  return told(refusal, { error: refusalText(refusal) })
}

/** The provider's members first, and ours where they leave room. */
function told(refusal: Refusal, own: Readonly<Record<string, unknown>>): Answer {
  return jsonAnswer(ERRORS[refusal.code].status, { ...own, preflight: refusalMembers(refusal) })
}
