/**
 * MCP registries. A publication is compared with the latest version of the server, by the values that its users supply
 * and by the tools that it lists. A new server, and every deprecation or deletion, needs a receipt.
 */
import type { Artifact } from '../../../engine/internal.ts'
import { ERRORS, GatewayError } from '../../errors/errors.ts'
import type { Flow } from '../../flow/flow.ts'
import { textIn } from '../../json/unchecked-json.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import {
  UpstreamRefusal,
  type Action,
  type JudgedAction,
  type ResourceCheck,
  type Recogniser,
  type Refusal,
} from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { Call } from '../../calls/call.ts'
import { askAsCaller, lookupFault } from '../common/caller-request.ts'
import { jsonAnswer, passingAction, refusalMembers, refusalText, stoppedAction } from '../common/refusal.ts'
import { collidingNames } from '../../json/folded-names.ts'
import { callName } from '../common/request-line.ts'
import { asClause, isJsonObject } from '../../json/strict-json.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { configurationSchema, listedTools } from './configuration.ts'
import { doubtfulMember } from './member-names.ts'
import { readRegistryRequest, type RegistryRequest } from './request.ts'
import { queryOf } from '../../routing/query-names.ts'
import { overridesMethod } from '../common/method-override.ts'

interface McpRegistryDeps {
  readonly upstreams: Upstreams
  readonly flow: Pick<Flow, 'readJson'>
}

type ServerEntry = Readonly<Record<string, unknown>>
type RegistryWrite = Exclude<RegistryRequest, { readonly kind: 'pass' | 'unknown' }>

export function createMcpRegistryRecogniser(deps: McpRegistryDeps): Recogniser {
  return {
    needsBody(head) {
      const { kind } = readRegistryRequest(head)
      return kind === 'publish' || kind === 'edit'
    },
    recognise(call) {
      const request = readRegistryRequest(call)
      const { 'content-encoding': encoding = 'identity' } = call.headers
      if (overridesMethod(call))
        return refusedRegistryCall(call, 'the method is overridden, so it can be read in two ways')
      if (request.kind === 'pass') return passingAction(callName(call), registryRefusal)
      if (request.kind === 'unknown')
        return refusedRegistryCall(
          call,
          `no endpoint of a registry that is known here has this method and path: ${callName(call)}`,
        )
      if (encoding !== 'identity')
        return refusedRegistryCall(call, 'its body is encoded; send it without Content-Encoding')
      if (!isUtf8Type(call.headers['content-type']))
        return refusedRegistryCall(call, 'its body is in another charset than UTF-8')
      return new RegistryAction(call, request, deps)
    },
  }
}

class RegistryAction implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  readonly #call: Call
  readonly #request: RegistryWrite
  readonly #deps: McpRegistryDeps

  constructor(call: Call, request: RegistryWrite, deps: McpRegistryDeps) {
    this.name = callName(call)
    this.#call = call
    this.#request = request
    this.#deps = deps
  }

  async gather(): Promise<readonly ResourceCheck[]> {
    const request = this.#request
    if (request.kind === 'status') return [serverReceiptCheck('unpublish', serverTarget(request.name, request.version))]
    const body = await jsonOf(Uint8Array.from(this.#call.body ?? []), 'the body', this.#deps)
    // Registries are written in Go, to which these are one member.
    const colliding = collidingNames(body)
    if (colliding !== null) throw undecidedEntry(`the body has ${colliding}, which differ in case only`)
    const doubtful = isJsonObject(body) ? doubtfulMember(body) : null
    if (doubtful !== null)
      throw undecidedEntry(`it has ${JSON.stringify(doubtful)}, which registries read as another member or not at all`)
    const server = serverIn(body)
    const [name, version] = [server['name'], server['version']]
    if (typeof name !== 'string' || typeof version !== 'string')
      throw undecidedEntry('the body names no server and version')
    if (request.kind === 'edit' && (name !== request.name || version !== request.version))
      throw undecidedEntry(`the path names ${request.name}@${request.version} and the body ${name}@${version}`)
    const before = await this.#published(request.root, name, request.kind === 'edit' ? version : 'latest')
    if (before === null) return [serverReceiptCheck('register', serverTarget(name, null))]
    const target = serverTarget(name, version)
    const resource = { name: `publish ${target}`, target, scope: null, operation: 'publish' }
    const receipts = changesStatus(this.#call, before, server) ? [serverReceiptCheck('unpublish', target)] : []
    const release = { name: serverTarget(name, null), base: serverVersion(before), head: version }
    const artifacts = artifactsOf(before, server)
    return [{ resource, basis: { kind: 'change_set', artifacts, unreadable: [], release } }, ...receipts]
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return registryRefusal(refusal)
  }

  /** Null: there is none. */
  async #published(root: string, name: string, version: string): Promise<ServerEntry | null> {
    const path = `${root}/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`
    const what = `${name}@${version}`
    const { status, headers, body } = await askAsCaller(
      this.#call,
      { method: 'GET', path, body: null, accept: 'application/json' },
      this.#deps.upstreams,
    ).catch((error: unknown) => {
      throw undecidedEntry(`the registry did not hand out ${what}: ${lookupFault(error)}`, error)
    })
    if (status === 404) return null
    if (status === 401 || status === 403) {
      const challenge = headers['www-authenticate']
      throw new UpstreamRefusal(status, typeof challenge === 'string' ? { 'www-authenticate': challenge } : {})
    }
    if (status !== 200) throw undecidedEntry(`the registry answered ${status} to the question for ${what}`)
    const server = serverIn(await jsonOf(body, what, this.#deps))
    if (server['name'] !== name) throw undecidedEntry(`the registry handed out another server for ${what}`)
    return server
  }
}

/** Registries take another status, or another name, from the address of an edit, and older ones from its body. */
function changesStatus({ upstreamPath }: Call, before: ServerEntry, after: ServerEntry): boolean {
  const stated = textIn(after['status']) ?? 'active'
  return queryOf(upstreamPath) !== '' || (stated !== 'active' && stated !== textIn(before['status']))
}

function artifactsOf(before: ServerEntry, after: ServerEntry): readonly Artifact[] {
  const [base, head] = [listedTools(before), listedTools(after)]
  const configuration: Artifact = {
    id: 'server.json',
    type: 'json_schema',
    before: configurationSchema(before),
    after: configurationSchema(after),
  }
  if (base === null && head === null) return [configuration]
  return [configuration, { id: 'server.json#tools', type: 'mcp_manifest', before: base ?? '', after: head ?? '' }]
}

const OF_A_SERVER = ['name', 'version', 'packages', 'remotes'] as const

/** A server that was accepted without a version states an empty one: how far it was raised is then unknown. */
function serverVersion({ version }: ServerEntry): string {
  return textIn(version) ?? ''
}

function serverTarget(name: string, version: string | null): string {
  return version === null ? `mcp:${name}` : `mcp:${name}@${version}`
}

function serverReceiptCheck(operation: string, target: string): ResourceCheck {
  return { resource: { name: `${operation} ${target}`, target, scope: null, operation }, basis: { kind: 'receipt' } }
}

async function jsonOf(bytes: Uint8Array, what: string, { flow }: McpRegistryDeps): Promise<unknown> {
  const read = await flow.readJson(bytes)
  if (!read.ok) throw undecidedEntry(`${what} cannot be read: ${asClause(read.problem.message)}`)
  return read.value
}

/** Answers, and publications of the first registries, have the server in a member of its own. */
function serverIn(value: unknown): ServerEntry {
  if (isJsonObject(value) && isJsonObject(value['server'])) {
    const beside = OF_A_SERVER.find((name) => value[name] !== undefined)
    if (beside !== undefined) throw undecidedEntry(`it has "${beside}" next to "server", and registries read either`)
  }
  const server = isJsonObject(value) && isJsonObject(value['server']) ? value['server'] : value
  if (!isJsonObject(server)) throw undecidedEntry('what is published is not a JSON object')
  return server
}

function undecidedEntry(why: string, cause?: unknown): GatewayError {
  return new GatewayError('PREFLIGHT_UNDECIDED', `The gateway cannot determine what this would change: ${why}.`, {
    cause,
  })
}

function refusedRegistryCall(call: Call, why: string): Action {
  const message = `Preflight stopped this request: ${why}.`
  return stoppedAction(call, { name: callName(call), message, why }, registryRefusal)
}

/** The registry's own errors are problem details (RFC 9457), which its publisher prints whole. */
function registryRefusal(refusal: Refusal): Answer {
  const { status } = ERRORS[refusal.code]
  const own = { title: refusal.code, status, detail: refusalText(refusal) }
  return jsonAnswer(status, { ...own, ...refusalMembers(refusal) })
}
