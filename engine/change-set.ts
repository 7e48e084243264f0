/** What is judged: artifacts with both sides, their canonical names and order, and the digests that identify them (wire.md §4, §5). */
import { digestJson, digestText, type Digest, type Sha256 } from './hash.ts'

export const ARTIFACT_TYPES = [
  'openapi',
  'graphql',
  'protobuf',
  'asyncapi',
  'mcp_manifest',
  'agent_tools',
  'json_schema',
  'k8s_crd',
] as const

export type ArtifactType = (typeof ARTIFACT_TYPES)[number]

const TYPE_ALIASES: Readonly<Record<string, ArtifactType>> = { grpc: 'protobuf', mcp: 'mcp_manifest' }

/** One contract, before and after. An empty side means that the artifact is created (`before`) or deleted (`after`). */
export interface Artifact {
  readonly id: string
  readonly type: ArtifactType
  readonly before: string
  readonly after: string
  /** Path in the repository it comes from, where known. */
  readonly path?: string
}

/** The canonical name of an artifact type or alias; null when it is neither. */
export function canonicalArtifactType(name: string): ArtifactType | null {
  const alias = Object.hasOwn(TYPE_ALIASES, name) ? TYPE_ALIASES[name] : undefined
  return alias ?? ARTIFACT_TYPES.find((type) => type === name) ?? null
}

/** Identity of the judged input; a consumer recomputes it from its own request (wire.md §5). */
export function inputFingerprint(artifacts: readonly Artifact[], sha256: Sha256): Digest {
  const rows = inCanonicalOrder(artifacts).map(({ id, type, before, after }) => ({ id, type, before, after }))
  return digestJson({ profile: 'change-set.v1', artifacts: rows }, sha256)
}

/** Like the input fingerprint, over digests of the sides: for those who hold the digests only (wire.md §5). */
export function artifactDigest(artifacts: readonly Artifact[], sha256: Sha256): Digest {
  const rows = inCanonicalOrder(artifacts).map(({ id, type, before, after }) => ({
    id,
    type,
    before: digestText(before, sha256),
    after: digestText(after, sha256),
  }))
  return digestJson({ profile: 'artifact-set.v1', artifacts: rows }, sha256)
}

function inCanonicalOrder(artifacts: readonly Artifact[]): readonly Artifact[] {
  return [...artifacts].sort((a, b) => byCodeUnit(a.type, b.type) || byCodeUnit(a.id, b.id))
}

/** Code-unit order: the same on every machine, unlike a locale's. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
