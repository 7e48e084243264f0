/** The form of a text setting in words, by the pattern of its schema, so that a mistake explains what to write. */
import { lookupTable } from '../../engine/base.ts'

const FORMS: Readonly<Record<string, string>> = lookupTable({
  '^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):[0-9]{1,5}$': 'HOST:PORT, e.g. 127.0.0.1:15080 or [::1]:15080',
  '^[^:\\s]+:\\d{1,5}$|^\\[[0-9a-fA-F:]+\\]:\\d{1,5}$': 'HOST:PORT',
  '^https?://': 'an address that begins with http:// or https://',
  '^https?://[^?#]+$': 'an address that begins with http:// or https://, without ? and #',
  '^(https?://|unix:/)': 'an address that begins with http:// or https://, or unix: and the absolute path of a socket',
  '^/': 'a path that begins with /',
  '^https?://[^/?#@\\s]+/?$': 'an origin: https://HOST or https://HOST:PORT, without a path',
  '^(?:/[^/]*)+$': 'a JSON Pointer: / before every member, e.g. /metadata/agent',
  '^sha256:[0-9a-f]{64}$': 'sha256: and 64 lowercase hexadecimal digits',
  '^[A-Za-z0-9_-]{43}$': '43 characters of base64url without padding (32 bytes)',
  '^[A-Z_]+ \\S.*$': 'METHOD /path, with the method in uppercase',
  '^[A-Za-z0-9.]+$': 'letters, digits and dots',
  '^[a-z0-9][a-z0-9-]{0,62}$':
    'lowercase letters, digits and hyphens, beginning with a letter or digit, at most 63 characters',
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$':
    'lowercase letters, digits and hyphens, beginning and ending with a letter or digit',
  '^[^\\s:{}\\[\\]"\']+:[^\\s:].*$': 'REF:PATH, e.g. main:api/openapi.yaml',
  '^[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*$': 'a full name of a service or method: package.Service',
  '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$': 'letters, digits and any of . _ : @ -, beginning with a letter or digit',
  '^[A-Za-z0-9][A-Za-z0-9 ./_-]{0,39}$':
    '1 to 40 letters, digits, spaces and any of . / _ -, beginning with a letter or digit',
  '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$': '1 to 63 letters, digits and any of _ . -, beginning with a letter or digit',
  '^https://': 'an address that begins with https://',
  '^[0-9a-f]{64}$': '64 lowercase hexadecimal digits',
  '^whsec_[A-Za-z0-9+/=]{32,}$': 'whsec_ and 24 to 64 bytes in Base64',
  '^smtps?://': 'an address of a mail server: smtp://HOST:PORT or smtps://USER:PASSWORD@HOST:PORT',
  '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$':
    'lowercase letters, digits, hyphens and dots, beginning and ending with a letter or digit',
  '^[0-9]+(\\.[0-9]+)?(m|Ki|Mi|Gi)?$': 'a quantity of Kubernetes, e.g. 100m or 128Mi',
  '^[a-z0-9][a-z0-9_-]{0,62}$':
    'lowercase letters, digits, hyphens and underscores, beginning with a letter or digit, at most 63 characters',
  '^[a-z0-9][a-z0-9_.-]{0,62}$':
    'lowercase letters, digits and any of _ . -, beginning with a letter or digit, at most 63 characters',
  '^[a-z0-9][a-z0-9-]{0,31}$':
    'lowercase letters, digits and hyphens, beginning with a letter or digit, at most 32 characters',
  "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$": 'the name of a header, without colon',
  '^xox[a-z]-[A-Za-z0-9-]+$': 'a token of a Slack app, e.g. xoxb-…',
  '^[A-Z0-9]{3,32}$': 'the id of a Slack channel: 3 to 32 capital letters and digits, e.g. C0123456789',
  '^https?://[^\\s]*\\{trace_id\\}[^\\s]*$':
    'an address with {trace_id} in it, e.g. https://traces.example/trace/{trace_id}',
})

/** Null for a pattern without a text. */
export function formOf(pattern: string): string | null {
  return Object.hasOwn(FORMS, pattern) ? (FORMS[pattern] ?? null) : null
}
