/** Settings of the injector: what every injected pod gets, and what its owner may choose. Part of the configuration's schema. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { absenceAt, mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'

export const TRAFFIC_MODES = ['transparent', 'explicit'] as const
export type TrafficMode = (typeof TRAFFIC_MODES)[number]

const TrafficMode = Type.Union([Type.Literal('transparent'), Type.Literal('explicit')])
const quantity = (description: string, value: string) =>
  Type.String({ default: value, pattern: '^[0-9]+(\\.[0-9]+)?(m|Ki|Mi|Gi)?$', description })

const InjectorSettings = Type.Object(
  {
    image: Type.String({ minLength: 1, description: 'Image of the sidecar.' }),
    image_pull_policy: Type.Union([Type.Literal('Always'), Type.Literal('IfNotPresent'), Type.Literal('Never')], {
      default: 'IfNotPresent',
      description: 'When the image is pulled.',
    }),
    mode: Type.Union(TrafficMode.anyOf, {
      default: 'transparent',
      description:
        'How connections reach the sidecar, unless the pod states it. transparent: redirected by iptables. explicit: the proxy variables of the containers name it; a NetworkPolicy must close other ways.',
    }),
    allowed_modes: Type.Array(TrafficMode, {
      default: ['transparent', 'explicit'],
      minItems: 1,
      uniqueItems: true,
      description: 'Modes that a pod may have. A pod that asks for another one is refused.',
    }),
    run_as: Type.Union([Type.Integer({ minimum: 1000, maximum: 2_147_483_647 }), Type.Literal('namespace')], {
      default: 61_337,
      description:
        'User of the sidecar, whose connections are not redirected. No other container of the pod may have it. namespace: the platform chooses it (OpenShift); only with allowed_modes [explicit].',
    }),
    config_map: Type.String({
      default: 'preflight-sidecar',
      pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$',
      description:
        'ConfigMap in the namespace of the pod with the configuration of the sidecar (preflight.yaml), unless the pod names another one.',
    }),
    ipv6: Type.Union([Type.Literal('reject'), Type.Literal('redirect')], {
      default: 'reject',
      description: 'IPv6 connections of redirected pods. redirect needs nodes with IPv6.',
    }),
    opt_out: Type.Boolean({
      default: false,
      description: 'A pod may state preflight.dev/inject: "false". Otherwise such a pod is refused.',
    }),
    ignored_namespaces: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'Namespaces that are never injected, in addition to kube-system, kube-public and kube-node-lease: the one of the gateway.',
    }),
    hub: Type.Optional(
      Type.Object(
        {
          url: Type.String({ pattern: '^https://', description: 'Address of the hub, as in store.url.' }),
          audience: Type.String({
            default: 'preflight-hub',
            minLength: 1,
            description: 'Audience of the service account token that the sidecar gets.',
          }),
        },
        {
          additionalProperties: false,
          description:
            'Injected sidecars keep their state at this hub. Default: in the pod. Write store.hub.ca_file in the ConfigMap if the hub has a private authority.',
        },
      ),
    ),
    cpu: quantity('CPU request of the sidecar', '50m'),
    memory: quantity('Memory request of the sidecar', '160Mi'),
    memory_limit: quantity('Memory limit of the sidecar', '512Mi'),
  },
  {
    additionalProperties: false,
    description: 'Adds the gateway as a sidecar to pods, at /injector of listen.webhooks. Off when absent.',
  },
)
export type InjectorSettings = Static<typeof InjectorSettings>

/** Absent: nothing is injected. */
export const InjectorSection = Type.Optional(InjectorSettings)

/** The part of the configuration that the injector reads. */
interface InjectorConfig {
  readonly injector?: InjectorSettings
}

export function checkInjector({
  injector,
  listen,
}: InjectorConfig & { readonly listen: { readonly webhooks?: string } }): readonly LocatedMistake[] {
  if (injector === undefined) return []
  const { mode, allowed_modes: allowed, run_as: user } = injector
  return [
    ...(listen.webhooks === undefined
      ? [
          absenceAt(
            '/injector',
            ['listen'],
            'there is no listener for the API server',
            'add listen.webhooks and tls.listeners.webhooks',
          ),
        ]
      : []),
    ...(allowed.includes(mode)
      ? []
      : [mistakeAt('/injector/mode', `the mode ${mode} is not one of allowed_modes`, `write ${allowed.join(' or ')}`)]),
    ...(user === 'namespace' && allowed.includes('transparent')
      ? [
          mistakeAt(
            '/injector/run_as',
            'a redirected pod needs a known user for the gateway',
            'name a user, or allow the mode explicit only',
          ),
        ]
      : []),
  ]
}
