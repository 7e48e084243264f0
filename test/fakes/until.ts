/** Waits for something that another task brings about; the deadline is a safety net, never what a test asserts. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs = 10_000,
): Promise<void> {
  const end = Date.now() + deadlineMs
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`it did not come about: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
