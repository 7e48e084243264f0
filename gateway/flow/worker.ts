/** Entry of a worker thread: runs one task at a time. The pool ends a task that does not finish, together with its thread. */
import { ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { runTask, type TaskAnswer, type Task } from './task.ts'

/** Called by the pool, by name. */
export function run(task: Task): Result<TaskAnswer> {
  const result = runTask(task.kind, task)
  return result.ok ? ok({ kind: task.kind, value: result.value }) : result
}
