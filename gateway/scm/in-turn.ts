/** Many questions to one platform, a few at a time, answered in the order in which they were asked. */

const AT_ONCE = 6

/** Rejects with the first failure; what has not begun by then does not begin. */
export async function inTurn<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  const waiting = items.entries()
  let hasFailed = false
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (hasFailed) return
      try {
        answers[index] = await ask(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work))
  return answers
}
