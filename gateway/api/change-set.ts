/** A checked request's artifacts and context in the engine's terms, and the mistakes that its schema cannot express. */
import { canonicalArtifactType, EMPTY_CONTEXT, fileMistakes, hasFiles, pointerToken } from '../../engine/base.ts'
import type { Artifact, DecisionContext } from '../../engine/internal.ts'
import type { Static } from 'typebox'
import { GatewayError } from '../errors/errors.ts'
import { type BodyMistake, bodyMistake } from './route.ts'
import type { ApiSettings } from './settings.ts'
import type { Artifact as ArtifactShape, DecisionContext as ContextShape } from './schemas/shapes.ts'

type RequestedArtifact = Static<typeof ArtifactShape>
type RequestedContext = Static<typeof ContextShape>

export function requestedArtifacts(requested: readonly RequestedArtifact[]): readonly Artifact[] {
  return requested.map(({ id, type, before, after, path, files = {} }) => {
    const canonical = canonicalArtifactType(type)
    if (canonical === null) throw new GatewayError('UNSUPPORTED_ARTIFACT_TYPE')
    return {
      id,
      type: canonical,
      ...(canonical !== type && { submittedType: type }),
      before,
      after,
      ...(path !== undefined && { path }),
      ...(hasFiles({ files }) && { files }),
    }
  })
}

export function requestedContext(requested: RequestedContext | undefined): DecisionContext {
  if (requested === undefined) return EMPTY_CONTEXT
  const { pull_request } = requested
  return {
    operation: requested.operation ?? null,
    environment: requested.environment ?? null,
    repository: requested.repository ?? null,
    branch: requested.branch ?? null,
    pull_request: pull_request === undefined || pull_request === null ? null : String(pull_request),
    base: requested.base ?? null,
    head: requested.head ?? null,
    target_id: requested.target_id ?? null,
    target_uri: requested.target_uri ?? null,
  }
}

/** Members that `artifactMistakes` does not read. */
export const UNREAD_ARTIFACT_MEMBERS = /^\/artifacts\/\d+\/(?:type|path)$/

/**
 * Too many artifacts, the same id twice, or neither side. An unreadable or oversized side is no mistake here: it leads to a
 * decision (docs/reference/api.md#post-apiv1preflight).
 */
export function artifactMistakes(
  artifacts: readonly RequestedArtifact[],
  { config }: ApiSettings,
): readonly BodyMistake[] {
  const mistakes: BodyMistake[] = []
  const addMistake = (pointer: string, message: string) => mistakes.push(bodyMistake(pointer, message))
  if (artifacts.length > config.limits.artifacts) {
    addMistake(
      '/artifacts',
      `has ${artifacts.length} artifacts; at most ${config.limits.artifacts} are decided together`,
    )
  }
  const first = new Map<string, number>()
  for (const [index, artifact] of artifacts.entries()) {
    const { id, before, after } = artifact
    const earlier = first.get(id)
    if (earlier === undefined) first.set(id, index)
    else addMistake(`/artifacts/${index}/id`, `repeats the id of /artifacts/${earlier}; ids are unique in a change set`)
    if (before === '' && after === '') {
      addMistake(`/artifacts/${index}`, 'has two empty sides; give the contract before, after, or both')
    }
    for (const { pointer, message } of mistakesOfFiles(artifact))
      addMistake(`/artifacts/${index}/files${pointer}`, message)
  }
  return mistakes
}

/** Pointers start at `files`. */
export function mistakesOfFiles({
  type,
  path,
  files,
}: Pick<RequestedArtifact, 'type' | 'path' | 'files'>): readonly Omit<BodyMistake, 'code'>[] {
  const canonical = canonicalArtifactType(type)
  if (canonical === null || files === undefined) return []
  const artifact = { type: canonical, files, ...(path !== undefined && { path }) }
  return fileMistakes(artifact).map(({ path: name, message }) => ({
    pointer: name === null ? '' : `/${pointerToken(name.slice(0, LONGEST_NAME))}`,
    message,
  }))
}

/** Longest name that is repeated to the client, UTF-16 code units. */
const LONGEST_NAME = 200
