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
  for (const [index, item] of items.entries()) {
    const found = ask(item)
    if (found instanceof Promise)
      return found.then((answer) => oneByOne(items.slice(index + 1), ask, [...answers, answer]))
    answers.push(found)
  }
  return answers
}
