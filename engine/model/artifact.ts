/** An artifact: one contract before and after, its type, and the files that it carries. */
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

/** The text of a file on both sides, or its text on each; a side that is left out has no such file. */
export type ArtifactFile = string | { readonly before?: string; readonly after?: string }

/** By path. */
export type ArtifactFiles = Readonly<Record<string, ArtifactFile>>

/** One contract, before and after. An empty side means that the artifact is created (`before`) or deleted (`after`). */
export interface Artifact {
  readonly id: string
  readonly type: ArtifactType
  /** The name of the type as the caller wrote it, where it is an alias. */
  readonly submittedType?: string
  readonly before: string
  readonly after: string
  /** Path in the repository it comes from, where known. */
  readonly path?: string
  /** Further files that its document refers to, by path. */
  readonly files?: ArtifactFiles
}
