/** Entry of a worker thread: runs one task at a time. The pool ends a task that does not finish, together with its thread. */
import { resourceLimits } from 'node:worker_threads'
import { DEFAULT_DOCUMENT_LIMITS, ok } from '../../engine/base.ts'
import type { DocumentLimits, Result } from '../../engine/internal.ts'
import { runTask, type TaskAnswer, type Task } from './task.ts'

/** Part of the heap that the values of one text may take. A comparison holds two, and what it makes of them. */
const PART_OF_HEAP = 0.4
const MIB = 1024 * 1024

/** Called by the pool, by name. */
export function run(task: Task): Result<TaskAnswer> {
  const bounded = withinHeap(task, resourceLimits.maxOldGenerationSizeMb)
  const result = runTask(bounded.kind, bounded)
  return result.ok ? ok({ kind: task.kind, value: result.value }) : result
}

function withinHeap(task: Task, heapMib: number | undefined): Task {
  if (heapMib === undefined || task.kind === 'digest') return task
  const bounded = (limits: DocumentLimits) => ({ ...limits, maxParsedBytes: heapMib * MIB * PART_OF_HEAP })
  if (task.kind !== 'compare') return { ...task, limits: bounded(task.limits) }
  const { options } = task
  return { ...task, options: { ...options, limits: bounded(options.limits ?? DEFAULT_DOCUMENT_LIMITS) } }
}
