/** Entry of a worker thread: runs one task at a time. A task that does not end is ended with its thread, by the pool. */
import type { Result } from '../../engine/index.ts'
import { runTask, type Task } from './task.ts'

/** Called by the pool, by name. */
export function run(task: Task): Result<unknown> {
  return runTask(task.kind, task)
}
