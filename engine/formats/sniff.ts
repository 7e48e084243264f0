/** Detects the type of a contract from its text, by content that only documents of that type have. */
import { OBJECT, requireArgument, TEXT } from '../common/argument.ts'
import type { ArtifactType } from '../model/change-set.ts'
import { fail, ok, type Problem, type Result } from '../common/result.ts'
import { isRecord } from '../schema/located.ts'
import { readDocument, readDocuments } from '../contracts/document.ts'
import { startsLikeSdl } from '../contracts/graphql/contract.ts'
import { isIntrospection } from '../contracts/graphql/introspection.ts'
import { DEFAULT_DOCUMENT_LIMITS, type DocumentLimits } from '../model/limits.ts'
import { isAsyncApi } from '../contracts/asyncapi/contract.ts'
import { isAgentTools } from '../contracts/agent-tools/entries.ts'
import { holdsKeywordsOnly, isPlainlyJsonSchema } from '../contracts/schema-keywords.ts'
import { holdsCrds } from '../contracts/k8s-crd/contract.ts'
import { isMcpManifest } from '../contracts/mcp-manifest.ts'
import { isProtoSet } from '../contracts/protobuf/contract.ts'
import { startsLikeProto } from '../contracts/protobuf/file.ts'
import { ofSide, unreadable } from '../contracts/unreadable.ts'

/** The first row that recognises a document's root names its type. */
const SIGNS: readonly { readonly type: ArtifactType; readonly isOf: (root: unknown) => boolean }[] = [
  { type: 'openapi', isOf: (root) => isRecord(root) && (isVersion(root['openapi']) || isVersion(root['swagger'])) },
  { type: 'graphql', isOf: isIntrospection },
  { type: 'asyncapi', isOf: isAsyncApi },
  { type: 'k8s_crd', isOf: holdsCrds },
  { type: 'agent_tools', isOf: isAgentTools },
  { type: 'protobuf', isOf: isProtoSet },
  { type: 'mcp_manifest', isOf: isMcpManifest },
  { type: 'json_schema', isOf: isPlainlyJsonSchema },
]

/**
 * The type of both sides. An empty side has none. The problem names the side that cannot be read or recognised, or
 * states that the types differ.
 */
export function sniffArtifactType(
  before: string,
  after: string,
  limits: DocumentLimits = DEFAULT_DOCUMENT_LIMITS,
): Result<ArtifactType> {
  requireArgument('sniffArtifactType', 'before', before, TEXT)
  requireArgument('sniffArtifactType', 'after', after, TEXT)
  requireArgument('sniffArtifactType', 'limits', limits, OBJECT)
  if (before === '' && after === '')
    return fail(unreadable('both sides are empty', { fix: 'Give a contract on one side at least.' }))
  const [base, head] = withBareSchemas(
    { text: before, type: before === '' ? null : sniffText(before, 'base', limits) },
    { text: after, type: after === '' ? null : sniffText(after, 'head', limits) },
    limits,
  )
  if (base?.ok === false) return base
  if (head === null || !head.ok) return head ?? base ?? fail(unrecognisedType('base'))
  if (base === null || base.value === head.value) return head
  const message = `The base is of the type ${base.value} and the head is of the type ${head.value}: they cannot be compared.`
  return fail({ code: 'ARTIFACT_TYPE_MISMATCH', message })
}

interface Sniffed {
  readonly text: string
  /** Null: the side is empty. */
  readonly type: Result<ArtifactType> | null
}

/**
 * `true`, `{}` and a schema with annotations only have no type of their own. Compared with a JSON Schema they are one.
 */
function withBareSchemas(
  base: Sniffed,
  head: Sniffed,
  limits: DocumentLimits,
): readonly [Result<ArtifactType> | null, Result<ArtifactType> | null] {
  const beside = (one: Sniffed, other: Sniffed): Result<ArtifactType> | null => {
    const isCandidate = one.type?.ok === false && other.type?.ok === true && other.type.value === 'json_schema'
    if (!isCandidate) return one.type
    const read = readDocument(one.text, limits)
    return read.ok && holdsKeywordsOnly(read.value.root) ? other.type : one.type
  }
  return [beside(base, head), beside(head, base)]
}

function sniffText(text: string, side: 'base' | 'head', limits: DocumentLimits): Result<ArtifactType> {
  if (OPENAPI_START.test(text.slice(0, OPENING))) return ok('openapi')
  if (startsLikeProto(text)) return ok('protobuf')
  if (startsLikeSdl(text.slice(0, OPENING))) return ok('graphql')
  const read = readDocument(text, limits)
  if (!read.ok) return isCrdStream(text, limits) ? ok('k8s_crd') : fail(ofSide(read.problem, side))
  const type = SIGNS.find(({ isOf }) => isOf(read.value.root))?.type
  return type === undefined ? fail(unrecognisedType(side)) : ok(type)
}

/** Only Kubernetes definitions are kept as several documents in one text. */
function isCrdStream(text: string, limits: DocumentLimits): boolean {
  if (!text.includes('CustomResourceDefinition')) return false
  const read = readDocuments(text, limits)
  return read.ok && holdsCrds(read.value.root)
}

function unrecognisedType(side: 'base' | 'head'): Problem {
  const message = `The type of the ${side} document is not recognised from its content. Declare it, e.g. as openapi, graphql or mcp_manifest.`
  return { code: 'UNSUPPORTED_ARTIFACT_TYPE', message, side }
}

/** Most OpenAPI documents name their version first, and large ones need not be read twice. */
const OPENAPI_START =
  /^\uFEFF?\s*(?:\{\s*"(?:openapi|swagger)"\s*:|(?:#[^\n]*\n|---[^\n]*\n|\s)*["']?(?:openapi|swagger)["']?\s*:)/
const OPENING = 4096

function isVersion(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
