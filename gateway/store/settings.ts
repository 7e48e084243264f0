/** Settings of the store and the ledger. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { integer, period, seconds, strict } from '../settings/fields.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'

export const StoreSettings = strict(
  {
    url: Type.Optional(
      Type.String({
        description:
          'Default: SQLite in data_dir. file:PATH names another SQLite file. postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE names a PostgreSQL database that several gateways share; parameters: sslmode, sslrootcert, sslcert, sslkey, options, target_session_attrs. It may hold a password: set it with PREFLIGHT_STORE_URL. https://HOST:PORT names a hub; several are separated by commas',
      }),
    ),
    listen_url: Type.Optional(
      Type.String({
        description:
          'PostgreSQL URL straight to the database, where url leads to a pooler in transaction mode (pgbouncer). Changes of other gateways are announced over it, and migrations run over it',
      }),
    ),
    pool: integer(10, 'Maximum number of connections of one gateway to PostgreSQL; one more receives changes'),
    connect_timeout: seconds(5, 'Maximum time for a connection to PostgreSQL, and for a free one of the pool', 0.1),
    statement_timeout: seconds(10, 'Maximum time of a statement in PostgreSQL', 0.1),
    lock_timeout: seconds(5, 'Maximum time that a statement in PostgreSQL waits for a lock', 0.1),
    in_force_within: seconds(
      1,
      'Time after which a revocation, approval, promotion, exception or key change on one gateway is in force on all others that share the store. A gateway that does not receive changes checks the store before each reuse',
      0.1,
    ),
    hub: strict(
      {
        token_file: Type.Optional(
          Type.String({ minLength: 1, description: 'File of the service account token, read again when it changes.' }),
        ),
        key_file: Type.Optional(Type.String({ minLength: 1, description: 'File of a hub key, outside Kubernetes.' })),
        ca_file: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'PEM file of the authorities of the hub; default: the public ones.',
          }),
        ),
        certificate: Type.Optional(Type.String({ minLength: 1, description: 'PEM file of a client certificate.' })),
        certificate_key: Type.Optional(Type.String({ minLength: 1, description: 'PEM file of its private key.' })),
        timeout: seconds(2, 'One request to the hub', 0.1),
        max_age: period(60, 'How old an answer of the hub may be that is used while the hub cannot be reached', 0),
      },
      'The hub, where store.url names one.',
    ),
  },
  'Where decisions are stored.',
)
export type StoreSettings = Static<typeof StoreSettings>

export const LedgerSettings = strict(
  {
    calls: Type.Union([Type.Literal('batched'), Type.Literal('durable')], {
      default: 'batched',
      description:
        'Records of single calls: written in batches, or durable before each call is forwarded. Decisions are always durable first.',
    }),
    flush: seconds(0.05, 'Maximum delay before a batch of call records is written', 0.001),
    checkpoint: seconds(
      60,
      'Interval at which a changed head of the ledger is signed, into the ledger, a file in data_dir, the log and a metric',
      1,
    ),
    inputs: integer(
      256 * 1024 * 1024,
      'Bytes of contracts (compressed, each once) stored for the replay of decisions under another policy; the least recently used are removed first. 0 stores none',
      0,
    ),
    retention: strict(
      {
        age: Type.Optional(
          Type.Number({
            minimum: 1,
            maximum: 36_500,
            description: 'Decisions and calls are kept for this long (days). Default: for ever.',
          }),
        ),
        size: Type.Optional(
          Type.Integer({
            minimum: 16 * 1024 * 1024,
            maximum: Number.MAX_SAFE_INTEGER,
            description:
              'Bytes of the store from which on the oldest decisions and calls are removed. Default: no limit.',
          }),
        ),
        interval: seconds(600, 'Interval at which old rows are removed', 1),
      },
      'How long decisions and calls are kept. Receipts that are still valid are never removed.',
    ),
  },
  'The ledger.',
)
export type LedgerSettings = Static<typeof LedgerSettings>

/** What names the store. */
export interface StorePlaces {
  readonly data_dir: string
  readonly store: Pick<StoreSettings, 'url'>
}

/** The part of the configuration that the store reads. */
export interface StoreConfig {
  readonly data_dir: string
  readonly store: StoreSettings
  readonly ledger: LedgerSettings
}

/** Which `store.url` names a hub. Apart from the connection, so that a start without a hub loads nothing of it. */
export function isHubUrl(url: string | undefined): url is string {
  return url !== undefined && /^https?:\/\//.test(url)
}

/** A client certificate and its key are of use together only. */
export function checkHubAccess({ store: { hub } }: Pick<StoreConfig, 'store'>): readonly LocatedMistake[] {
  const { certificate, certificate_key: key } = hub
  if ((certificate === undefined) === (key === undefined)) return []
  return key === undefined
    ? [
        mistakeAt(
          '/store/hub/certificate',
          'the client certificate has no private key',
          'add store.hub.certificate_key',
        ),
      ]
    : [mistakeAt('/store/hub/certificate_key', 'there is no certificate for this key', 'add store.hub.certificate')]
}

/** Credentials for a hub that are not sent. */
export function hubAccessWarnings({ store: { url, hub } }: Pick<StoreConfig, 'store'>): readonly LocatedMistake[] {
  const { token_file: token, key_file: key, certificate } = hub
  const [first] = Object.entries({ token_file: token, key_file: key, certificate }).filter(
    ([, file]) => file !== undefined,
  )
  if (!isHubUrl(url))
    return first === undefined
      ? []
      : [
          mistakeAt(
            `/store/hub/${first[0]}`,
            'store.url names no hub, so it is not used',
            'set store.url to https://HOST:PORT',
          ),
        ]
  if (first === undefined)
    return [
      mistakeAt(
        '/store/url',
        'no credential for the hub is named, so the hub refuses this sidecar',
        'add store.hub.token_file, key_file, or certificate with certificate_key',
      ),
    ]
  return token !== undefined && key !== undefined
    ? [mistakeAt('/store/hub/key_file', 'it is not used beside store.hub.token_file', 'remove one of the two')]
    : []
}
