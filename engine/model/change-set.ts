/**
 * The judged input: artifacts with both sides, their canonical names and order, and the digests that identify them
 * (docs/reference/api.md#post-apiv1preflight, docs/reference/hashes.md#input_fingerprint).
 */
import { FUNCTION, OBJECTS, requireArgument, requireMembers, TEXT } from '../common/argument.ts'
import { hasFiles, sideDigest } from './artifact-files.ts'
import { ARTIFACT_TYPES, type Artifact, type ArtifactType } from './artifact.ts'
import { lookupTable } from '../common/lookup-table.ts'
import { byCodeUnit } from '../common/code-unit-order.ts'
import { digestJson, digestText, type Digest, type Sha256 } from '../common/hash.ts'

export { ARTIFACT_TYPES } from './artifact.ts'
export type { Artifact, ArtifactType } from './artifact.ts'

const TYPE_ALIASES: Readonly<Record<string, ArtifactType>> = lookupTable({ grpc: 'protobuf', mcp: 'mcp_manifest' })

/** The canonical name of an artifact type or alias, or null. */
export function canonicalArtifactType(name: string): ArtifactType | null {
  const alias = Object.hasOwn(TYPE_ALIASES, name) ? TYPE_ALIASES[name] : undefined
  return alias ?? ARTIFACT_TYPES.find((type) => type === name) ?? null
}

/** Identity of the judged input; a consumer recomputes it from its own request (docs/reference/hashes.md#input_fingerprint). */
export function inputFingerprint(artifacts: readonly Artifact[], sha256: Sha256): Digest {
  // Files are named relative to the path of the document, so with files the path is part of the judged input.
  const rows = sortedArtifacts(artifacts).map(({ id, type, before, after, path = null, files = {} }) => ({
    id,
    type,
    before,
    after,
    ...(hasFiles({ files }) && { path, files }),
  }))
  return digestJson({ profile: 'change-set.v1', artifacts: rows }, sha256)
}

/** U+001F, unit separator. It cannot occur in a hex digest, so the joined text is unambiguous. */
const SEPARATOR = '\u001f'

/** What identifies a change set (docs/reference/hashes.md). */
export interface ChangeSetDigests {
  readonly inputFingerprint: Digest
  readonly artifactDigest: Digest
  readonly submittedSetDigest: Digest
}

/** All three digests; each side is hashed once. */
export function changeSetDigests(artifacts: readonly Artifact[], sha256: Sha256): ChangeSetDigests {
  requireArgument('changeSetDigests', 'artifacts', artifacts, OBJECTS)
  requireArgument('changeSetDigests', 'sha256', sha256, FUNCTION)
  const forms = { id: TEXT, type: TEXT, before: TEXT, after: TEXT }
  for (const [index, artifact] of artifacts.entries())
    requireMembers('changeSetDigests', `artifacts[${index}]`, artifact, forms)
  const hashed = artifacts.map((artifact) => hashedArtifact(artifact, sha256))
  return {
    inputFingerprint: inputFingerprint(artifacts, sha256),
    artifactDigest: digestOfContents(hashed, sha256),
    submittedSetDigest: digestOfSet(hashed, sha256),
  }
}

/**
 * Identity of the contents alone, without id, type and profile: whoever has both sides can compute it. The type
 * *as submitted* decides the order, not the canonical one.
 */
export function artifactDigest(artifacts: readonly Artifact[], sha256: Sha256): Digest {
  return digestOfContents(
    artifacts.map((artifact) => hashedArtifact(artifact, sha256)),
    sha256,
  )
}

interface HashedArtifact extends Pick<Artifact, 'id' | 'type' | 'submittedType'> {
  /** 64 lowercase hex digits each. */
  readonly before: string
  readonly after: string
}

function hashedArtifact(artifact: Artifact, sha256: Sha256): HashedArtifact {
  return { ...artifact, before: sideDigest(artifact, 'before', sha256), after: sideDigest(artifact, 'after', sha256) }
}

function digestOfContents(artifacts: readonly HashedArtifact[], sha256: Sha256): Digest {
  const submitted = ({ type, submittedType = type }: HashedArtifact): string => submittedType
  const sorted = [...artifacts].sort((a, b) => byCodeUnit(submitted(a), submitted(b)) || byCodeUnit(a.id, b.id))
  return digestText(sorted.map(({ before, after }) => before + after).join(SEPARATOR), sha256)
}

/** The digest of the submitted set, with ids and canonical types. */
function digestOfSet(artifacts: readonly HashedArtifact[], sha256: Sha256): Digest {
  const rows = sortedArtifacts(artifacts).map(({ id, type, before, after }) => ({
    id,
    type,
    before: `sha256:${before}`,
    after: `sha256:${after}`,
  }))
  return digestJson({ profile: 'artifact-set.v1', artifacts: rows }, sha256)
}

function sortedArtifacts<T extends Pick<Artifact, 'id' | 'type'>>(artifacts: readonly T[]): readonly T[] {
  return [...artifacts].sort((a, b) => byCodeUnit(a.type, b.type) || byCodeUnit(a.id, b.id))
}
