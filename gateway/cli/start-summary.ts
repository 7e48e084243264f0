/** The start-up summary for a person at a terminal: the listeners, the settings in force, and a command to try. */
import { styleText } from 'node:util'
import type { Gateway } from '../main.ts'
import { columns } from './command.ts'

const SHORT_HASH = 'sha256:'.length + 12

export function startSummary(gateway: Gateway, isColoured: boolean): string {
  const { config, policy } = gateway.settings()
  const { proxy, api, admin, transparent, ext_authz: asked, webhooks } = gateway.addresses
  const strong = (text: string): string => (isColoured ? styleText('bold', text, { validateStream: false }) : text)
  const routes = config.routes.map(({ name, match, upstream, protocol, mode }) => {
    const host = match.host ?? ''
    return [
      '',
      `${host}${match.path} → ${upstream ?? 'the host that is named'} (${name}, ${protocol}, ${mode})`,
    ] as const
  })
  const rows: readonly (readonly [string, string])[] = [
    ['proxy', proxy],
    ...(transparent === undefined ? [] : [['redirected', transparent] as const]),
    ['api', `${api}  (POST /api/v1/preflight, /api/diff, /mcp; GET /openapi.json)`],
    ...(asked === undefined ? [] : [['ext_authz', `${asked}  (gRPC)`] as const]),
    ...(webhooks === undefined ? [] : [['webhooks', `${webhooks}  (/admission/ROUTE, /injector)`] as const]),
    ['admin', `${admin}  (/livez, /readyz, /metrics)`],
    ['policy', `${policy.name}, ${policy.mode}, ${policy.hash.slice(0, SHORT_HASH)}`],
    ['receipt key', gateway.keyId],
    [
      'egress',
      `${config.egress.default} by default, ${config.egress.allow.length} allowed, ${config.egress.deny.length} denied`,
    ],
    ['tier', config.tier],
    ['store', gateway.store],
    ['telemetry', config.monitoring.sinks.map(({ type }) => type).join(', ') || 'none'],
    ['routes', routes.length === 0 ? 'none yet: name some in the configuration (routes)' : `${routes.length}`],
    ...routes,
  ]
  return ['', strong('Preflight Gateway is ready.'), '', ...columns(rows), '', ...nextStep(gateway, strong), ''].join(
    '\n',
  )
}

function nextStep({ addresses, bootstrapKey }: Gateway, strong: (text: string) => string): readonly string[] {
  // The shell expands the variable between double quotes only.
  const authorization =
    bootstrapKey === null ? '"Authorization: Bearer $PREFLIGHT_API_KEY"' : `'Authorization: Bearer ${bootstrapKey}'`
  const body = JSON.stringify({
    base: '{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/orders":{"get":{"responses":{"200":{"description":"ok"}}}}}}',
    head: '{"openapi":"3.0.3","info":{"title":"t","version":"2"},"paths":{}}',
    format: 'markdown',
  })
  return [
    ...(bootstrapKey === null ? [] : [`${strong('Admin API key, shown once:')} ${bootstrapKey}`, '']),
    'Try it: compare two contracts, one of which lost an operation.',
    '',
    `  curl -s ${addresses.api}/api/diff -H ${authorization} -H 'Content-Type: application/json' -d '${body}'`,
    '',
    'Ctrl-C stops it.',
  ]
}
