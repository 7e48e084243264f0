/** An analysis in this process: the flow of the gateway without store and key, so that the answer equals the API's. */
import { fileMistakes } from '../../engine/base.ts'
import {
  canonicalArtifactType,
  type Artifact,
  type ArtifactFiles,
  type DecisionContext,
} from '../../engine/internal.ts'
import { analyzeAnswer } from '../api/preflight-answer.ts'
import { openSettings } from '../config/live-settings.ts'
import type { ConfigSource } from '../config/load.ts'
import type { CurrentSettings } from '../config/schema.ts'
import type { Flow } from '../flow/flow.ts'
import { createFlow } from '../flow/authorize.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { createLogger } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { InputError, type Arguments } from './command.ts'
import { configSource } from './config-option.ts'
import type { CommandIo } from './io.ts'
import { isJsonObject } from '../json/strict-json.ts'

interface LocalRequest {
  readonly artifacts: readonly unknown[]
  readonly context: DecisionContext
  readonly correlationId: string
}

export async function analyzeLocally(request: LocalRequest, args: Arguments, io: CommandIo): Promise<object> {
  const { settings, flow } = openLocalFlow(configSource(args, io))
  try {
    const artifacts = request.artifacts.map(artifactOf)
    const assessment = await flow.analyze({ artifacts, context: request.context, scope: null })
    return analyzeAnswer(assessment, { settings: settings(), correlationId: request.correlationId, now: Date.now() })
  } finally {
    await flow.close()
  }
}

/** Close the flow when it is not needed any more. */
export function openLocalFlow(source: ConfigSource): { readonly settings: CurrentSettings; readonly flow: Flow } {
  const live = openSettings(source)
  const flow = createFlow({
    settings: live.current,
    store: {
      decisions: { history: () => Promise.resolve([]) },
      approvals: { open: () => Promise.reject(new Error(NOTHING_IS_DECIDED)) },
      uses: { of: () => Promise.resolve([]) },
    },
    recorder: { record: () => Promise.reject(new Error(NOTHING_IS_DECIDED)) },
    inputs: null,
    metrics: createMetrics(),
    logger: createLogger('error'),
    now: Date.now,
  })
  return { settings: live.current, flow }
}

const NOTHING_IS_DECIDED = 'a local analysis decides nothing'

function artifactOf(value: unknown, index: number): Artifact {
  const { id, type, before, after, path, files } = recordIn(value)
  const named = typeof type === 'string' ? canonicalArtifactType(type) : null
  if (typeof id !== 'string' || named === null || typeof before !== 'string' || typeof after !== 'string')
    throw new InputError(`artifacts[${index}] needs id, type, before and after; type is a type that the gateway knows`)
  if (path !== undefined && typeof path !== 'string') throw new InputError(`artifacts[${index}].path is not a text`)
  if (!isFiles(files))
    throw new InputError(`artifacts[${index}].files holds texts by path, or {before, after} where they differ`)
  const artifact = { id, type: named, before, after, ...(path !== undefined && { path }), ...(files && { files }) }
  const [mistake] = fileMistakes(artifact)
  if (mistake === undefined) return artifact
  const place = mistake.path === null ? '' : `[${JSON.stringify(mistake.path)}]`
  throw new InputError(`artifacts[${index}].files${place} ${mistake.message}`)
}

function isFiles(files: unknown): files is ArtifactFiles | undefined {
  if (files === undefined) return true
  return (
    isJsonObject(files) &&
    Object.values(files).every(
      (file) =>
        typeof file === 'string' ||
        (isJsonObject(file) && isTextOrAbsent(file['before']) && isTextOrAbsent(file['after'])),
    )
  )
}

function isTextOrAbsent(text: unknown): boolean {
  return text === undefined || typeof text === 'string'
}
