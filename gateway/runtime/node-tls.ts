/**
 * node:tls, and node:http2 which rests on it, loaded when a connection first needs them: with TLS come all the public root
 * certificates, parsed, 7 MB in every process. Types are imported from the runtime's own modules.
 */

export const tls = () => process.getBuiltinModule('node:tls')

export const http2 = () => process.getBuiltinModule('node:http2')

export const https = () => process.getBuiltinModule('node:https')
