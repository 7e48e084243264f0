/** Puts what many callers write into one statement: while one is under way, the next callers gather for the one after it. */

interface Waiting<Row, Answer> {
  readonly row: Row
  readonly answer: PromiseWithResolvers<Answer>
}

/**
 * @param write writes all rows or none; answers in their order
 * @param limit rows of one statement: bounds how long the first of them waits
 */
export function groupCommit<Row, Answer>(
  write: (rows: readonly Row[]) => Promise<readonly Answer[]>,
  limit: number,
): (row: Row) => Promise<Answer> {
  let waiting: Waiting<Row, Answer>[] = []
  let isWriting = false
  const flush = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) {
      const group = waiting.slice(0, limit)
      waiting = waiting.slice(limit)
      try {
        const answers = await write(group.map(({ row }) => row))
        group.forEach(({ answer }, index) => {
          const value = answers[index]
          if (value === undefined) answer.reject(new Error('the database did not answer for a row'))
          else answer.resolve(value)
        })
      } catch (error) {
        for (const { answer } of group) answer.reject(error)
      }
    }
    isWriting = false
  }
  return (row) => {
    const answer = Promise.withResolvers<Answer>()
    waiting.push({ row, answer })
    // All that is asked for in this turn of the event loop goes together.
    if (!isWriting) {
      isWriting = true
      queueMicrotask(() => void flush())
    }
    return answer.promise
  }
}
