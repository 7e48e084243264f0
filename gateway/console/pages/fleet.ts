/** The processes that use this store: gateways and sidecars, what they run, and how late they receive changes. */
import { isOperatorTenant } from '../../callers/rights.ts'
import { fleetView, type FleetMember } from '../../fleet/view.ts'
import { html, type Content } from '../markup.ts'
import { badge, head, moment, notice, shortDigest, table } from '../parts.ts'
import type { ConsolePage } from '../visit.ts'

const SHOWN = 500

export const fleet: ConsolePage = async ({ visitor, deps, now }) => {
  const tenant = isOperatorTenant(visitor) ? null : visitor.tenant
  const members = await fleetView({ tenant, limit: SHOWN }, deps)
  const running = members.filter(({ state }) => state === 'running')
  const body = html`${head({ title: 'Fleet', lede: 'Gateways and sidecars that use this store, with what they run.' })}
  ${differences(running)}
  ${table({
    caption: 'Fleet',
    columns: [
      ['Name', ''],
      ['State', 'tight'],
      ['Version', 'tight'],
      ['Policy', ''],
      ['Settings', 'tight'],
      ['Lag', 'number'],
      ['Seen', 'tight'],
    ],
    rows: members.map((member) => [
      html`<strong>${member.name}</strong>
        <p class="muted small">
          ${member.kind}${member.kind === 'sidecar' ? ` · ${member.tenant}` : ''}${member.hub === null ? '' : ` · hub ${member.hub}`}
        </p>`,
      memberState(member),
      member.version,
      html`${member.policy} ${shortDigest(member.policy_hash)}`,
      shortDigest(member.config_hash),
      member.lag_seconds === null ? '–' : `${member.lag_seconds.toFixed(1)} s`,
      moment(Date.parse(member.seen_at), now),
    ]),
  })}`
  return { kind: 'page', title: 'Fleet', isLive: true, body }
}

function memberState({ state, mode }: FleetMember): Content {
  const tone = state === 'running' ? 'good' : state === 'lost' ? 'bad' : 'none'
  return html`${badge(state.charAt(0).toUpperCase() + state.slice(1), tone)}
  ${mode === null || mode === 'enforce' ? null : badge(mode === 'observe' ? 'Observes' : 'Partly observes', 'warn')}`
}

/** Processes of one store are expected to run the same. */
function differences(running: readonly FleetMember[]): Content {
  const gateways = running.filter(({ kind }) => kind === 'gateway')
  const different = (
    [
      ['versions', new Set(running.map(({ version }) => version)).size],
      ['policies', new Set(running.map(({ policy_hash: hash }) => hash)).size],
      ['settings of gateways', new Set(gateways.map(({ config_hash: hash }) => hash)).size],
    ] as const
  ).filter(([, count]) => count > 1)
  if (different.length === 0) return null
  const text = different.map(([what, count]) => `${count} ${what}`).join(', ')
  return notice('warn', `${running.length} running processes have ${text}.`)
}
