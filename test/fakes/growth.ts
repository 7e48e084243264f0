/** How the computing of a run grows with its size: as a ratio, so that slow machines judge alike. */

type Run = (size: number) => unknown

/** Microseconds below which other work of the process decides. */
const RESOLUTION = 50_000

/** Microseconds of computing, of the process with all its threads. */
async function cpuOf(run: Run, size: number): Promise<number> {
  const start = process.cpuUsage()
  await run(size)
  const { user, system } = process.cpuUsage(start)
  return user + system
}

/**
 * Null if a run grows with its size: four times the size may take twice that. Pairs of parts take sixteen times as long.
 * Otherwise both times. A run is measured again before it is called too slow: collections of garbage and other processes
 * fall anywhere.
 */
export async function excessiveGrowth(run: Run, size: number): Promise<string | null> {
  for (let tries = 5; ; tries -= 1) {
    const [few, many] = [await cpuOf(run, size / 4), await cpuOf(run, size)]
    if (many <= 8 * Math.max(few, RESOLUTION)) return null
    if (tries === 0) return `${few} µs, then ${many} µs`
  }
}
