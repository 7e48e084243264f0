/**
 * How a request came to the gateway. `reverse`: the gateway was addressed as the server, and its routes name the
 * upstream. With the others the request names its destination itself: `forward` (absolute form), `connect`, `redirect`
 * (by the network). `ext_authz`: another proxy checks the request, and forwards it itself. `admission`: the API server of a
 * cluster asks about a write, and does it itself.
 */
export type TrafficPath = 'reverse' | 'forward' | 'connect' | 'redirect' | 'ext_authz' | 'admission'
