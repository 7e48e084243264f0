/**
 * How a request came to the gateway. `reverse`: it was asked as if it were the server, and its routes say where calls go. By
 * the others the request names its destination itself: `forward` (absolute form), `connect`, `redirect` (by the
 * network). `ext_authz`: another proxy asks, and sends the request itself.
 */
export type Entrance = 'reverse' | 'forward' | 'connect' | 'redirect' | 'ext_authz'
