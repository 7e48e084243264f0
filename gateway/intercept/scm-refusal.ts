/** How a platform of source control says no: its clients show what stands where its own errors have their text, and nothing else. */
import { ERRORS } from '../errors.ts'
import type { Answer, Call, Refusal } from './action.ts'
import { briefMembers, httpRefusal, jsonAnswer, refusalMembers, refusalText } from './refusal.ts'

type Form = (refusal: Refusal) => Answer

/** By the protocol of the route. The errors of GitHub's REST API have a `message`, as ours do. */
const FORMS: Readonly<Record<string, Form>> = { gitlab: gitlabRefusal, bitbucket: bitbucketRefusal }

export function scmRefusal({ route, upstreamPath }: Pick<Call, 'route' | 'upstreamPath'>): Form {
  const isGithubGraphql = route.protocol === 'github' && /\/graphql(?:\?|$)/.test(upstreamPath)
  return isGithubGraphql ? graphqlRefusal : (FORMS[route.protocol] ?? httpRefusal)
}

/** GitHub's command line prints the body of an answer that is no 200, escaped and whole. */
function graphqlRefusal(refusal: Refusal): Answer {
  return jsonAnswer(ERRORS[refusal.code].status, briefMembers(refusal))
}

/** Where there is an `error`, clients show that and leave out the `message`. */
function gitlabRefusal(refusal: Refusal): Answer {
  const { error: code, ...members } = refusalMembers(refusal)
  return jsonAnswer(ERRORS[refusal.code].status, { ...members, code })
}

/** Its errors are objects; whoever looks for `error.message` finds it. */
function bitbucketRefusal(refusal: Refusal): Answer {
  const { error: code, message, ...members } = refusalMembers(refusal)
  const error = { message, detail: refusalText(refusal) }
  return jsonAnswer(ERRORS[refusal.code].status, { type: 'error', error, code, message, ...members })
}
