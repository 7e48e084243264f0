/** Instants as texts of ISO 8601, in UTC with milliseconds. */

/** @param milliseconds since the epoch */
export function isoInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** @param milliseconds since the epoch; undefined: there is no instant */
export function isoInstantIfAny(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : isoInstant(milliseconds)
}

/** @param milliseconds since the epoch; null, undefined: there is no instant */
export function isoInstantOrNull(milliseconds: number | null | undefined): string | null {
  return milliseconds === null || milliseconds === undefined ? null : isoInstant(milliseconds)
}
