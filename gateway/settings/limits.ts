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
    head_timeout: seconds(30, 'The head of a request arrives within this, on every listener', 0.05),
    body_timeout: seconds(300, 'A body that must be read arrives whole within this, on every listener', 0.05),
    body_rate: integer(
      1024,
      'Least average rate of a body that must be read, bytes a second; counts after the first 10 seconds',
      0,
    ),
    analysis: seconds(60, 'Comparing one artifact'),
    held_calls: integer(100, 'Calls held for an approval at the same time; further ones are answered at once', 0),
    connections: integer(
      2000,
      'Tunnels and connections whose TLS does not stand yet, open at once; past that OVERLOADED',
    ),
    queue: integer(64, 'Comparisons waiting for a worker; past that OVERLOADED'),
  },
  'Limits.',
)
export type Limits = Static<typeof Limits>

/** A configuration of which the limits are read. */
export interface LimitsConfig {
  readonly limits: Limits
}
