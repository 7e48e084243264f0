/**
 * `preflight redirect`: the packet filter rules of a pod whose connections go to the gateway in it. Prints them, sets them,
 * and proves that they are in force.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, messageOf, StartupError } from '../errors/startup-error.ts'
import { CHAINS, redirectRules, resolversIn, type Redirect } from '../kubernetes/redirect-rules.ts'
import { readCidrs, readPorts, type ReadTerms } from '../kubernetes/traffic-terms.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { EXIT, UsageError, type Arguments, type Command, type CommandGroup, type OptionSpec } from './command.ts'
import { writeLine } from './io.ts'
import type { AddressFamily } from '../network/address.ts'

const IPV6 = ['reject', 'redirect'] as const
const TRAFFIC: readonly OptionSpec[] = [
  { name: 'user', value: 'UID', isRequired: true, help: 'User of the gateway; its connections are left alone.' },
  { name: 'port', value: 'PORT', help: 'Port of listen.transparent; default: 15001.' },
  { name: 'ports', value: 'PORTS', help: 'Ports that are redirected; default: 80,443.' },
  { name: 'exclude-ports', value: 'PORTS', help: 'Ports that are left alone.' },
  { name: 'include-cidrs', value: 'CIDRS', help: 'Only these destinations are redirected; others are rejected.' },
  { name: 'exclude-cidrs', value: 'CIDRS', help: 'Destinations that are left alone.' },
  { name: 'ipv6', value: 'HOW', allowed: IPV6, help: 'IPv6 on the redirected ports; default: reject.' },
]

const NOTES = [
  'Ports are 80 or 8000-8010, destinations 10.0.0.0/8 or fd00::/8, separated by commas.',
  'What is neither redirected nor left alone is rejected, except loopback and the resolvers of /etc/resolv.conf.',
]

const rules: Command = {
  name: 'rules',
  summary: 'Print the rules, as iptables-restore reads them.',
  operands: '',
  operandCount: [0, 0],
  options: TRAFFIC,
  notes: NOTES.join('\n'),
  run: async (args, io) => {
    const redirect = redirectOf(args)
    for (const family of ['ipv4', 'ipv6'] as const)
      writeLine(io.stdout, `# ${family}\n${redirectRules(redirect, family, resolvers())}`)
    return EXIT.good
  },
}

const apply: Command = {
  name: 'apply',
  summary: 'Set the rules in this network namespace. Needs NET_ADMIN and iptables.',
  operands: '',
  operandCount: [0, 0],
  options: TRAFFIC,
  notes: [...NOTES, 'It can run again: the rules are replaced.'].join('\n'),
  run: async (args, io) => {
    const redirect = redirectOf(args)
    const families: readonly AddressFamily[] = existsSync('/proc/net/if_inet6') ? ['ipv4', 'ipv6'] : ['ipv4']
    for (const family of families) set(redirect, family)
    writeLine(io.stdout, `connections of all users but ${redirect.user} go to port ${redirect.port}`)
    return EXIT.good
  },
}

const check: Command = {
  name: 'check',
  summary: 'Prove that connections are redirected: exit code 1 when one leaves, or when the gateway does not answer.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'timeout', value: 'SECONDS', help: 'Time until the gateway must answer; default: 30.' },
    { name: 'ipv6', value: 'HOW', allowed: IPV6, help: 'As for apply; default: reject.' },
  ],
  notes: [
    'Run it as another user than the gateway. It connects to addresses that belong to nobody (192.0.2.1, 2001:db8::1).',
    'The gateway must answer there, and another port must be rejected.',
  ].join('\n'),
  run: async (args, io) => {
    const seconds = wholeNumberOption(args, 'timeout', 30, 3600)
    const problems = await redirectProblems(args.value('ipv6') === 'redirect', seconds * 1000)
    for (const problem of problems) writeLine(io.stderr, problem)
    if (problems.length > 0) return EXIT.no
    writeLine(io.stdout, 'connections are redirected to the gateway')
    return EXIT.good
  },
}

export const redirectGroup: CommandGroup = {
  name: 'redirect',
  summary: 'Redirect the connections of a pod to the gateway in it.',
  commands: [rules, apply, check],
}

function redirectOf(args: Arguments): Redirect {
  const list = (name: string, read: (text: string) => ReadTerms, otherwise = ''): readonly string[] => {
    const terms = read(args.value(name) ?? otherwise)
    if (!terms.ok) throw new UsageError(`--${name}: ${terms.problem}`)
    return terms.values
  }
  return {
    user: wholeNumberOption(args, 'user', 0, 4_294_967_294),
    port: wholeNumberOption(args, 'port', 15_001, 65_535),
    ports: list('ports', readPorts, '80,443'),
    excludePorts: list('exclude-ports', readPorts),
    includeCidrs: list('include-cidrs', readCidrs),
    excludeCidrs: list('exclude-cidrs', readCidrs),
    ipv6: args.value('ipv6') === 'redirect' ? 'redirect' : 'reject',
  }
}

function wholeNumberOption(args: Arguments, name: string, otherwise: number, most: number): number {
  const text = args.value(name) ?? String(otherwise)
  if (/^\d{1,10}$/.test(text) && Number(text) <= most) return Number(text)
  throw new UsageError(`--${name} ${text} is not a number up to ${most}`)
}

function resolvers(): readonly string[] {
  try {
    return resolversIn(readRegularFile('/etc/resolv.conf', 'utf8'))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

function set(redirect: Redirect, family: AddressFamily): void {
  const tool = family === 'ipv4' ? 'iptables' : 'ip6tables'
  // Our own chains are made anew; everything else stays.
  runProgram(`${tool}-restore`, ['--noflush', '--wait', '5'], redirectRules(redirect, family, resolvers()))
  for (const { table, chain } of CHAINS) {
    const called = ['--wait', '5', '-t', table]
    if (!succeeds(tool, [...called, '-C', 'OUTPUT', '-j', chain]))
      runProgram(tool, [...called, '-I', 'OUTPUT', '1', '-j', chain])
  }
}

function succeeds(tool: string, argv: readonly string[]): boolean {
  try {
    execFileSync(tool, argv, { stdio: 'ignore' })
    return true
  } catch {
    // Exit code 1: there is no such rule. Any other fault is met again, and reported, when the rule is set.
    return false
  }
}

function runProgram(tool: string, argv: readonly string[], input = ''): void {
  try {
    execFileSync(tool, argv, { input, stdio: ['pipe', 'ignore', 'pipe'] })
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    throw new StartupError(
      `${tool} failed: ${stderr === '' ? messageOf(error) : stderr}. It needs iptables, root and the capability NET_ADMIN.`,
      { cause: error },
    )
  }
}

/** RFC 5737 and RFC 3849: addresses for documentation, which are never routed. */
const NOBODY = '192.0.2.1'
const NOBODY_6 = '2001:db8::1'
const TRY_MS = 2000

async function redirectProblems(isIpv6Redirected: boolean, timeoutMs: number): Promise<readonly string[]> {
  const deadline = Date.now() + timeoutMs
  const isAnswered = await answeredBefore(deadline, NOBODY)
  const isAnswered6 =
    !isIpv6Redirected || !existsSync('/proc/net/if_inet6') || (await answeredBefore(deadline, NOBODY_6))
  const isRejected = (await ending(NOBODY, 9)) === 'refused'
  return [
    ...(isAnswered ? [] : [`A connection to ${NOBODY}:80 was not answered by the gateway: it is not redirected.`]),
    ...(isAnswered6 ? [] : [`A connection to [${NOBODY_6}]:80 was not answered by the gateway: it is not redirected.`]),
    ...(isRejected ? [] : [`A connection to ${NOBODY}:9 was not rejected: it left this network namespace.`]),
  ]
}

async function answeredBefore(deadline: number, host: string): Promise<boolean> {
  do {
    if ((await ending(host, 80)) === 'answered') return true
    await sleep(200)
  } while (Date.now() < deadline)
  return false
}

/** `answered`: by a gateway, which repeats the correlation id that it is sent. */
function ending(host: string, port: number): Promise<'answered' | 'refused' | 'other'> {
  const id = `redirect-check-${randomUUID()}`
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    let text = ''
    const finish = (result: 'answered' | 'refused' | 'other'): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    const timer = setTimeout(() => finish('other'), TRY_MS)
    socket.on('connect', () =>
      socket.write(
        `GET / HTTP/1.1\r\nHost: redirect-check.invalid\r\nX-Correlation-ID: ${id}\r\nConnection: close\r\n\r\n`,
      ),
    )
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece
      if (text.includes(id)) finish('answered')
    })
    socket.on('end', () => finish('other'))
    socket.on('error', (error) =>
      finish(['ECONNREFUSED', 'EPERM'].includes(errorCode(error) ?? '') ? 'refused' : 'other'),
    )
  })
}
