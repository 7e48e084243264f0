/** `preflight ca`: the authority that signs the certificates of intercepted connections: its certificates, and its rotation. */
import { X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { createAuthorities, type Authorities, type PublishedAuthority } from '../tls/authorities.ts'
import { EXIT, type Arguments, type Command, type CommandGroup, wholeSeconds } from './command.ts'
import { configOf, PLACE_OPTIONS } from './config-option.ts'
import { recordAct, requirePath } from './data-directory.ts'
import { instant, textTable } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'

/** A day: seconds in which agents can get the new certificate before it signs. */
const DEFAULT_OVERLAP = 86_400

const show: Command = {
  name: 'show',
  summary: 'Print the certificates that agents must trust, as PEM.',
  operands: '',
  operandCount: [0, 0],
  options: [
    {
      name: 'format',
      value: 'FORMAT',
      allowed: ['pem', 'text'],
      help: 'text lists dates and fingerprints; default: pem.',
    },
    ...PLACE_OPTIONS,
  ],
  notes: [
    'The authority is made now if there is none. A running gateway serves the same at /.well-known/preflight-ca.pem of its API.',
    'Agents read it from NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, GIT_SSL_CAINFO or curl --cacert.',
  ].join('\n'),
  run: async (args, io) => {
    const authorities = authoritiesOf(args, io)
    if (args.value('format') === 'text') writeLine(io.stdout, listing(await authorities.published()))
    else io.stdout.write(await authorities.bundle())
    return EXIT.good
  },
}

const rotate: Command = {
  name: 'rotate',
  summary: 'Make a new authority; it must be trusted immediately, and signs after the overlap.',
  operands: '',
  operandCount: [0, 0],
  options: [
    {
      name: 'overlap',
      value: 'SECONDS',
      help: `Time for agents to get it before it signs; default: ${DEFAULT_OVERLAP}.`,
    },
    ...PLACE_OPTIONS,
  ],
  notes: 'A running gateway loads it automatically. Give agents the new bundle (preflight ca show) within the overlap.',
  run: async (args, io) => {
    const authorities = authoritiesOf(args, io)
    await authorities.rotate(wholeSeconds(args, 'overlap', DEFAULT_OVERLAP))
    writeLine(io.stdout, listing(await authorities.published()))
    await recordAct(args, io, { event: 'interception.authority_rotated' })
    return EXIT.good
  },
}

export const caGroup: CommandGroup = {
  name: 'ca',
  summary: 'The certificate authority of intercepted connections (show, rotate).',
  commands: [show, rotate],
}

/** A mistyped data directory must not get an authority of its own. */
function authoritiesOf(args: Arguments, io: CommandIo): Authorities {
  const { data_dir: configured, tls } = configOf(args, io)
  const dataDir = resolve(configured)
  if (tls.ca === undefined) requirePath(dataDir, `there is no directory ${dataDir}`)
  return createAuthorities({ dataDir, ca: tls.ca, now: Date.now })
}

function listing(authorities: readonly PublishedAuthority[]): string {
  return textTable(
    ['SUBJECT', 'STATUS', 'SIGNS FROM', 'ENDS', 'SHA-256'],
    authorities.map(({ certificate, status, signsFrom }) => {
      const { subject, validToDate, fingerprint256 } = new X509Certificate(certificate)
      const name = /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ')
      return [
        name,
        status,
        signsFrom === null ? '' : instant(signsFrom),
        instant(validToDate.getTime()),
        fingerprint256.replaceAll(':', '').toLowerCase(),
      ]
    }),
  )
}
