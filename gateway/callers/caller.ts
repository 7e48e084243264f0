/** Who calls: the holder of the API key that authenticated at the proxy, else everybody in `local`. */
export interface Caller {
  readonly tenant: string
  readonly audience: string | null
}
