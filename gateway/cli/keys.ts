/** `preflight keys`: API keys in the store and receipt keys in the data directory, whether or not the gateway runs. */
import { Type } from '../../engine/base.ts'
import { KeySetAnswer, keySet } from '../api/routes/discovery.ts'
import { endKey, Key, KeyAnswer, listKeys, MadeKey, makeKey } from '../api/routes/keys.ts'
import { GatewayError } from '../errors/errors.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { readGroups } from '../store/approvers.ts'
import { apiKeyRow, mintApiKey, apiKeyView } from '../callers/api-keys.ts'
import { apiKeyAct } from '../callers/manage-keys.ts'
import { ROLES, type Role } from '../store/api-keys.ts'
import { publicRows } from '../store/key-exchange.ts'
import { isSharedStore } from '../store/opening/open.ts'
import {
  EXIT,
  UsageError,
  type Arguments,
  type Command,
  type CommandGroup,
  type ExitCode,
  positiveInteger,
  wholeSeconds,
} from './command.ts'
import type { PublishedKeySet } from '../keys/jwks.ts'
import { configOf, placeConfigOf, PLACE_OPTIONS } from './config-option.ts'
import { noteAct, openExistingRing, recordAct, withNewStore, withStore } from './data-directory.ts'
import type { GatewayClient } from './gateway-client.ts'
import { LIST_FORMAT, secondsOf, show, textTable } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { remoteOf, SITE_OPTIONS } from './remote.ts'

/** Seconds in which caches of the key set get a new key before it signs. */
const DEFAULT_OVERLAP = 300

const create: Command = {
  name: 'create',
  summary: 'Make an API key and print it, once.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'name', value: 'NAME', isRequired: true, help: 'Name of the person or program that uses it.' },
    { name: 'role', value: 'ROLE', allowed: ROLES, help: 'Role of the key; default: agent.' },
    { name: 'tenant', value: 'TENANT', help: 'Tenant whose decisions it sees; default: local.' },
    {
      name: 'plan',
      value: 'PLAN',
      help: 'Plan of the configuration that limits its requests; default: enterprise.',
    },
    { name: 'groups', value: 'NAMES', help: 'Approver groups of the holder, e.g. payments,security.' },
    { name: 'owner', value: 'NAME', help: 'The person behind the key; keys of one owner count as one person.' },
    { name: 'lifetime', value: 'SECONDS', help: 'Time until the key ends; default: until it is revoked.' },
    { name: 'test', help: 'Make a pf_test_ key instead of a pf_live_ key.' },
    ...SITE_OPTIONS,
  ],
  notes: 'The key is printed on stdout once; only its SHA-256 is stored. With --url, this needs the role admin.',
  run: async (args, io) => {
    const { key, audience, name, role } = await madeKey(args, io)
    writeLine(io.stderr, `${role} key ${audience} for ${name}, shown once:`)
    writeLine(io.stdout, key)
    return EXIT.good
  },
}

interface MadeApiKey {
  readonly key: string
  readonly audience: string
  readonly name: string
  readonly role: Role
}

function madeKey(args: Arguments, io: CommandIo): Promise<MadeApiKey> {
  const tenant = args.value('tenant')
  const stated = {
    name: args.value('name') ?? '',
    role: ROLES.find((known) => known === args.value('role')) ?? ('agent' as const),
    plan: args.value('plan') ?? 'enterprise',
    groups: groupsOf(args),
    owner: args.value('owner') ?? null,
    lifetime: args.value('lifetime') === undefined ? null : positiveInteger(args, 'lifetime', 1),
    ...(tenant !== undefined && { tenant }),
  }
  const remote = remoteOf(args, io)
  return remote === null ? makeKeyHere(stated, args, io) : makeKeyThere(stated, args, remote)
}

type StatedKey = Omit<Parameters<typeof apiKeyRow>[0], 'key' | 'at' | 'expiresAt'> & {
  readonly plan: string
  readonly role: Role
  readonly lifetime: number | null
}

async function makeKeyThere(stated: StatedKey, args: Arguments, gateway: GatewayClient): Promise<MadeApiKey> {
  if (args.flag('test')) throw new UsageError('--test is for a data directory')
  const { api_key: key, key: made } = await gateway.ask(makeKey, MadeKey, { body: stated })
  return { key, audience: made.id, name: made.name, role: stated.role }
}

async function makeKeyHere({ lifetime, ...stated }: StatedKey, args: Arguments, io: CommandIo): Promise<MadeApiKey> {
  const { plans } = configOf(args, io)
  if (!Object.hasOwn(plans, stated.plan))
    throw new UsageError(`there is no plan "${stated.plan}"; plans: ${Object.keys(plans).join(', ')}`)
  const key = mintApiKey(args.flag('test') ? 'test' : 'live')
  const at = Date.now()
  const row = apiKeyRow({ ...stated, key, at, expiresAt: lifetime === null ? null : at + lifetime * 1000 })
  await withNewStore(args, io, async (store) => {
    await store.apiKeys.create(row)
    await noteAct(store, io, apiKeyAct('created', row))
  })
  return { key, audience: row.audience, name: row.name, role: stated.role }
}

const list: Command = {
  name: 'list',
  summary: 'List API keys (never the keys themselves).',
  operands: '',
  operandCount: [0, 0],
  options: [LIST_FORMAT, ...SITE_OPTIONS],
  run: async (args, io) => {
    show(args, io, await keyViews(args, io), (views) =>
      textTable(
        ['ID', 'NAME', 'ROLE', 'GROUPS', 'OWNER', 'TENANT', 'PLAN', 'CREATED', 'USED', 'EXPIRES', 'REVOKED'],
        views.map((view) => [
          view.audience,
          view.name,
          view.role,
          view.groups.join(','),
          view.owner ?? '',
          view.tenant,
          view.plan,
          view.created_at,
          view.used_at ?? '',
          view.expires_at ?? '',
          view.revoked_at ?? '',
        ]),
      ),
    )
    return EXIT.good
  },
}

const revoke: Command = {
  name: 'revoke',
  summary: 'Revoke an API key (v:…) or a receipt key (its key id), immediately and permanently.',
  operands: 'ID',
  operandCount: [1, 1],
  options: SITE_OPTIONS,
  notes:
    'A revoked receipt key makes every receipt that it signed invalid; to keep them valid, retire the key instead.\n' +
    'With --url: API keys only, and this needs the role admin.',
  run: async (args, io) => {
    const [id = ''] = args.operands
    const remote = remoteOf(args, io)
    if (remote !== null) return revokeThere(id, remote, io)
    return id.startsWith('v:') ? await revokeApiKey(id, args, io) : await endReceiptKey('revoke', args, io)
  },
}

const showKeys: Command = {
  name: 'show',
  summary: 'Show the published receipt keys.',
  operands: '',
  operandCount: [0, 0],
  options: [{ ...LIST_FORMAT, help: 'json is the JWK Set for preflight verify; default: text.' }, ...SITE_OPTIONS],
  run: async (args, io) => {
    const remote = remoteOf(args, io)
    const published =
      remote === null ? (await openExistingRing(args, io)).published() : await remote.ask(keySet, KeySetAnswer)
    show(args, io, published, ({ keys }) =>
      textTable(
        ['KEY ID', 'STATUS', 'VALID FROM', 'RETIRED', 'REVOKED', 'NOTE'],
        keys.map((key) => [
          key.kid,
          key.status,
          key.valid_from,
          key.retired_at ?? '',
          key.revoked_at ?? '',
          laterNote(key, Date.now()),
        ]),
      ),
    )
    return EXIT.good
  },
}

/** A time that is far ahead comes from a clock that was wrong (docs/runbooks.md). */
function laterNote({ status, valid_from: from, retired_at: end }: LastingKey, now: number): string {
  if (status !== 'active') return ''
  if (Date.parse(from) > now) return 'begins later'
  return end !== null && Date.parse(end) > now ? 'retires later' : ''
}

type LastingKey = Pick<PublishedKeySet['keys'][number], 'status' | 'valid_from' | 'retired_at'>

const rotate: Command = {
  name: 'rotate',
  summary: 'Make a new receipt key; the previous one retires when the new one starts to sign.',
  operands: '',
  operandCount: [0, 0],
  options: [
    {
      name: 'overlap',
      value: 'SECONDS',
      help: `Time from its publication to its first signature; default: ${DEFAULT_OVERLAP}.`,
    },
    ...PLACE_OPTIONS,
  ],
  notes: 'A running gateway loads the new key automatically.',
  run: async (args, io) => {
    if (configOf(args, io).signer.url !== undefined)
      throw new UsageError(
        'receipts are signed by an external signer; make the new key there, then put its public key into signer.public_key',
      )
    const ring = await openExistingRing(args, io)
    const keyId = await ring.rotate(wholeSeconds(args, 'overlap', DEFAULT_OVERLAP))
    writeLine(io.stdout, keyId)
    await recordAct(args, io, { event: 'keys.receipt_key_changed', change: 'rotated', key_id: keyId })
    return EXIT.good
  },
}

const retire: Command = {
  name: 'retire',
  summary: 'Retire a receipt key: it no longer signs, and its receipts stay valid.',
  operands: 'KEY_ID',
  operandCount: [1, 1],
  options: PLACE_OPTIONS,
  run: (args, io) => endReceiptKey('retire', args, io),
}

export const keysGroup: CommandGroup = {
  name: 'keys',
  summary: 'API keys (create, list, revoke) and receipt keys (show, rotate, retire, revoke).',
  commands: [create, list, revoke, showKeys, rotate, retire],
}

type KeyView = ReturnType<typeof keyView>
const Rows = Type.Object({ items: Type.Array(Key) })

async function keyViews(args: Arguments, io: CommandIo): Promise<readonly KeyView[]> {
  const remote = remoteOf(args, io)
  if (remote !== null) return (await remote.ask(listKeys, Rows)).items.map(keyView)
  const keys = await withStore(args, io, (store) => store.apiKeys.list())
  return keys.map((key) => keyView(apiKeyView(key, Date.now())))
}

/** A key as the API shows it, for people: without its state, which its times show. */
function keyView({
  id: audience,
  state: _state,
  created_at: createdAt,
  used_at: usedAt,
  ...rest
}: ReturnType<typeof apiKeyView>) {
  const { name, role, groups, owner, tenant, plan, expires_at: expiresAt, revoked_at: revokedAt } = rest
  return {
    audience,
    name,
    role,
    groups,
    owner,
    tenant,
    plan,
    created_at: secondsOf(createdAt),
    used_at: usedAt === null ? null : secondsOf(usedAt),
    expires_at: expiresAt === null ? null : secondsOf(expiresAt),
    revoked_at: revokedAt === null ? null : secondsOf(revokedAt),
  }
}

async function revokeThere(id: string, gateway: GatewayClient, io: CommandIo): Promise<ExitCode> {
  if (!id.startsWith('v:'))
    throw new UsageError('a receipt key is revoked on the data directory of its gateway; API keys begin with v:')
  try {
    await gateway.ask(endKey, KeyAnswer, { params: { id } })
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'NOT_FOUND') throw error
    return printResult(false, '', `there is no API key ${id}; see: preflight keys list`, io)
  }
  return printResult(true, `revoked ${id}`, '', io)
}

async function revokeApiKey(audience: string, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const found = await withStore(args, io, async (store) => {
    const matching = (await store.apiKeys.list()).filter((key) => key.audience === audience)
    for (const key of matching) {
      await store.apiKeys.revoke(key.hash, Date.now())
      await noteAct(store, io, apiKeyAct('revoked', key))
    }
    return matching.length > 0
  })
  return printResult(found, `revoked ${audience}`, `there is no API key ${audience}; see: preflight keys list`, io)
}

async function endReceiptKey(end: 'retire' | 'revoke', args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [keyId = ''] = args.operands
  const ring = await openExistingRing(args, io)
  const before = currentKeyId(ring)
  const isOwn = ring[end](keyId)
  const done = isOwn || (end === 'revoke' && (await revokedInStore(keyId, args, io)))
  const missing = `there is no receipt key ${keyId}${end === 'retire' ? ' in force' : ''}; see: preflight keys show`
  const next = done ? currentKeyId(ring) : before
  // The key that takes over was already published; a new standby key is published now.
  if (isOwn) await ring.replenish()
  if (isOwn && isSharedStore(placeConfigOf(args, io)))
    await withStore(args, io, (store) => store.receiptKeys.publish(publicRows(ring.own())))
  if (done) await recordAct(args, io, { event: 'keys.receipt_key_changed', change: `${end}d`, key_id: keyId })
  const successor =
    next === before ? '' : next === null ? '; no receipt key signs now' : `; ${next} signs now (published before)`
  return printResult(done, `${end}d ${keyId}${successor}`, missing, io)
}

/** A key of another gateway that shares the store: it stops signing with it, and none accepts its receipts. */
async function revokedInStore(keyId: string, args: Arguments, io: CommandIo): Promise<boolean> {
  if (!isSharedStore(placeConfigOf(args, io))) return false
  return withStore(args, io, (store) => store.receiptKeys.revoke(keyId, Math.floor(Date.now() / 1000)))
}

/** Null: no key signs. */
function currentKeyId(ring: KeyRing): string | null {
  try {
    return ring.signer().keyId
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

function printResult(done: boolean, yes: string, no: string, io: CommandIo): ExitCode {
  writeLine(done ? io.stdout : io.stderr, done ? yes : no)
  return done ? EXIT.good : EXIT.no
}

/** The value of --groups; no groups without it. */
export function groupsOf(args: Arguments): readonly string[] {
  const text = args.value('groups')
  const groups = text === undefined ? [] : readGroups(text)
  if (groups !== null) return groups
  throw new UsageError('--groups takes names of a-z 0-9 _ . -, separated by commas, e.g. payments,security')
}
