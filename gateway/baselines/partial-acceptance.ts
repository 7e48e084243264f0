/**
 * Acceptance of parts of a candidate, while the rest of the baseline stays as it was (docs/reference/api.md#baselines). Parts
 * are tools, prompts, resources and templates of an MCP manifest, and operations of an OpenAPI contract. The result is a new
 * baseline that is stored whole.
 */
import { byCodeUnit } from '../../engine/base.ts'
import { GatewayError } from '../errors/errors.ts'
import type { Flow } from '../flow/flow.ts'
import type { BaselineRow } from '../store/baselines.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { jsonOrNull, objectsIn } from '../json/unchecked-json.ts'
import type { Acceptance } from './acceptance.ts'
import { ownerOf } from './promotion.ts'

type BaselineContract = Pick<BaselineRow, 'type' | 'content'>

interface PartKind {
  /** Member of the manifest that lists such parts. */
  readonly list: string
  /** Member of an item that names it. */
  readonly key: string
  /** target_id of calls of the part. */
  readonly target: (route: string, name: string) => string | null
}

/** By the prefix before the colon; the target prefixes are those of calls. */
const KINDS: ReadonlyMap<string, PartKind> = new Map<string, PartKind>([
  ['tool', { list: 'tools', key: 'name', target: (route, name) => `${route}/${name}` }],
  ['prompt', { list: 'prompts', key: 'name', target: (route, name) => `${route}#prompt/${name}` }],
  ['resource', { list: 'resources', key: 'uri', target: () => null }],
  ['template', { list: 'resourceTemplates', key: 'uriTemplate', target: () => null }],
])

interface ManifestPart extends PartKind {
  readonly name: string
}

interface PartialContract {
  readonly content: string
  /** Whether a call of this target is about what is accepted. */
  readonly isAccepted: (route: string) => (target: string) => boolean
}

/** @param only e.g. `tool:search`, `operation:getOrder`. @throws GatewayError INVALID_INPUT */
async function partialContract(
  baseline: BaselineContract,
  candidate: BaselineContract,
  only: readonly string[],
  flow: Pick<Flow, 'compose'>,
): Promise<PartialContract> {
  return baseline.type === 'openapi' && candidate.type === 'openapi'
    ? partialInterface(baseline, candidate, only, flow)
    : partialManifest(baseline, candidate, only)
}

const OPERATION = 'operation:'

async function partialInterface(
  baseline: BaselineContract,
  candidate: BaselineContract,
  only: readonly string[],
  flow: Pick<Flow, 'compose'>,
): Promise<PartialContract> {
  const names = only.map((written, index) => {
    if (written.startsWith(OPERATION) && written.length > OPERATION.length) return written.slice(OPERATION.length)
    const ways = 'operation:ID, operation:METHOD /path'
    throw invalid(index, `${JSON.stringify(written)} names no part; parts of an OpenAPI contract are ${ways}`)
  })
  const composed = await flow.compose(baseline.content, candidate.content, names)
  if (!composed.ok) {
    const { message, pointer = '' } = composed.problem
    throw new GatewayError('INVALID_INPUT', 'These parts cannot be accepted alone.', {
      details: [{ pointer: /^\/\d+$/.test(pointer) ? `/only${pointer}` : '/only', message }],
    })
  }
  const { content, operations } = composed.value
  return {
    content,
    isAccepted: (route) => {
      const targets = new Set(operations.map((operation) => `${route}/${operation}`))
      return (target) => targets.has(target)
    },
  }
}

function partialManifest(
  baseline: BaselineContract,
  candidate: BaselineContract,
  only: readonly string[],
): PartialContract {
  const before = manifestOf(baseline)
  const after = manifestOf(candidate)
  const parts = only.map(manifestPart)
  let composed = before
  for (const [index, part] of parts.entries()) composed = withManifestPart(composed, after, part, index)
  return {
    content: JSON.stringify(composed),
    isAccepted: (route) => {
      const targets = new Set(parts.map(({ target, name }) => target(route, name)))
      return (target) => targets.has(target)
    },
  }
}

function manifestPart(written: string, index: number): ManifestPart {
  const colon = written.indexOf(':')
  const kind = KINDS.get(written.slice(0, Math.max(colon, 0)))
  const name = written.slice(colon + 1)
  if (kind === undefined || name === '') {
    const words = [...KINDS.keys()].map((word) => `${word}:NAME`).join(', ')
    throw invalid(index, `${JSON.stringify(written)} names no part; parts of an MCP manifest are ${words}`)
  }
  return { ...kind, name }
}

type Manifest = Readonly<Record<string, unknown>>

function manifestOf({ type, content }: BaselineContract): Manifest {
  const parsed = type === 'mcp_manifest' ? jsonOrNull(content) : null
  const value = Array.isArray(parsed) ? { tools: parsed } : parsed
  if (!isJsonObject(value)) {
    const message = `Contracts of the type ${type} are accepted only as a whole. Parts can be accepted of MCP manifests in JSON and of OpenAPI contracts.`
    throw new GatewayError('INVALID_INPUT', message, {
      details: [{ pointer: '/only', message: 'cannot be used here' }],
    })
  }
  const { result } = value
  return isJsonObject(result) && !Object.hasOwn(value, 'tools') ? result : value
}

/** The part as the candidate has it: changed, added, or gone. */
function withManifestPart(
  manifest: Manifest,
  candidate: Manifest,
  { list, key, name }: ManifestPart,
  index: number,
): Manifest {
  const own = listedItems(manifest, list)
  const offered = listedItems(candidate, list).find((item) => item[key] === name)
  const rest = own.filter((item) => item[key] !== name)
  if (offered === undefined && rest.length === own.length)
    throw invalid(index, `neither the baseline nor the candidate has ${JSON.stringify(name)} in its ${list}`)
  const items = offered === undefined ? rest : [...rest, offered]
  return { ...manifest, [list]: items.toSorted((a, b) => byCodeUnit(String(a[key]), String(b[key]))) }
}

function listedItems(manifest: Manifest, list: string): readonly Manifest[] {
  const items = manifest[list]
  return objectsIn(items)
}

function invalid(index: number, message: string): GatewayError {
  return new GatewayError('INVALID_INPUT', undefined, { details: [{ pointer: `/only/${index}`, message }] })
}

/** Some parts of the offer; calls of other parts stay pending. */
export async function narrowedAcceptance(
  whole: Acceptance,
  only: readonly string[],
  flow: Pick<Flow, 'compose'>,
): Promise<Acceptance> {
  const { route, before, offered } = whole
  const { content, isAccepted } = await partialContract(before, offered, only, flow)
  return { ...whole, after: { type: before.type, content }, isAccepted: isAccepted(ownerOf(route.name)) }
}
