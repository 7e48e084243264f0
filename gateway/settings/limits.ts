/** Limits that several parts share. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { integer, seconds, strict } from './fields.ts'

export const Limits = strict(
  {
    artifacts: integer(50, 'Artifacts in one change set'),
    request_body: integer(64 * 1024 * 1024, 'Body of an API request, bytes'),
    artifact_side: integer(32 * 1024 * 1024, 'One side of an artifact, UTF-16 code units'),
    depth: integer(128, 'Nesting of a contract document'),
    aliases: integer(1000, 'YAML aliases in a document'),
    expansion: integer(20, 'Growth of a document by its aliases'),
    proxied_body: integer(8 * 1024 * 1024, 'Body of an intercepted call that must be read, bytes'),
    head_timeout: seconds(30, 'Time for the head of a request to arrive, on every listener', 0.05),
    body_timeout: seconds(300, 'Time for a body that must be read to arrive, on every listener', 0.05),
    body_rate: integer(
      1024,
      'Minimum average rate of a body that must be read, bytes per second; checked after the first 10 seconds',
      0,
    ),
    analysis: seconds(60, 'Comparing one artifact'),
    held_calls: integer(
      100,
      'Calls that wait for an approval at the same time; further calls are answered immediately',
      0,
    ),
    connections: integer(
      2000,
      'Tunnels and unfinished TLS handshakes open at the same time; further ones are OVERLOADED',
    ),
    queue: integer(64, 'Comparisons waiting for a worker; further ones are OVERLOADED'),
  },
  'Limits.',
)
export type Limits = Static<typeof Limits>

/** The part of a configuration with the limits. */
export interface LimitsConfig {
  readonly limits: Limits
}
