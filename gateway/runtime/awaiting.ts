/**
 * Work that waits only where it must. A promise costs a call more than most steps of judging it, and nearly every step knows
 * its answer already.
 */

/** What follows from a value: immediately, or when its promise resolves. */
export function after<Value, Next>(
  value: Value | Promise<Value>,
  follow: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(follow) : follow(value)
}

/** The answer on each item, where each is asked for when the one before it is known; the first failure ends it. */
export function oneByOne<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Answer | Promise<Answer>,
  known: readonly Answer[] = [],
): readonly Answer[] | Promise<readonly Answer[]> {
  const answers = [...known]
  for (const item of items) {
    const asking = ask(item)
    if (asking instanceof Promise)
      return asking.then((answer) =>
        oneByOne(items.slice(answers.length - known.length + 1), ask, [...answers, answer]),
      )
    answers.push(asking)
  }
  return answers
}
