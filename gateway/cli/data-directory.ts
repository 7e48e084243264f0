/**
 * The content of a gateway's data directory, for commands. A mistyped path is reported, and never becomes another ledger or
 * another set of keys.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../errors/startup-error.ts'
import { keyFile } from '../keys/key-file.ts'
import { requireKnownLedger } from '../store/opening/continuity.ts'
import { openKeyRing, type KeyRing } from '../keys/key-ring.ts'
import { ledgerFile, openStore } from '../store/opening/open.ts'
import type { Store, StorePart } from '../store/store.ts'
import { actId, actOf } from '../telemetry/decision-log/acts.ts'
import type { EntryFacts } from '../telemetry/decision-log/entry.ts'
import type { LogFields } from '../telemetry/log.ts'
import type { Config } from '../config/schema.ts'
import { UsageError, type Arguments } from './command.ts'
import { configOf, placeConfigOf } from './config-option.ts'
import { writeLine, type CommandIo } from './io.ts'
import { localUser } from './remote.ts'

/** @param what the message when the file is missing: `there are no records at FILE` */
export function requirePath(path: string, what: string): void {
  if (existsSync(path)) return
  throw new UsageError(`${what}; name the data directory of the gateway with --data-dir or --config`)
}

export function openExistingRing(args: Arguments, io: CommandIo): Promise<KeyRing> {
  const directory = resolve(placeConfigOf(args, io).data_dir)
  const file = keyFile(directory)
  requirePath(file, `there are no receipt keys at ${file}`)
  return openKeyRing(directory)
}

/** Opens the existing store for one piece of work. */
export function withStore<T>(args: Arguments, io: CommandIo, work: (store: Store) => Promise<T>): Promise<T> {
  const config = placeConfigOf(args, io)
  const file = ledgerFile(config)
  if (file !== null) requirePath(file, `there are no records at ${file}`)
  requireKnownLedger(config)
  return withStoreOf(config, work)
}

/** The same, and makes the store when there is none: keys can be made before the first start. */
export function withNewStore<T>(args: Arguments, io: CommandIo, work: (store: Store) => Promise<T>): Promise<T> {
  requireKnownLedger(configOf(args, io))
  return withAnyStore(args, io, work)
}

/** The same, whatever happened to the ledger that was there. */
export function withAnyStore<T>(args: Arguments, io: CommandIo, work: (store: Store) => Promise<T>): Promise<T> {
  return withStoreOf(configOf(args, io), work)
}

async function withStoreOf<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(config)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/**
 * Leaves an act in the store, for the gateway that serves from it: it takes the act to its log and its decision log. What was done
 * stays done when that fails, and the command says so.
 */
export function noteAct(store: StorePart<'acts.add'>, io: CommandIo, fields: LogFields): Promise<void> {
  return warned(io, () => leave(store, actOf({ by: localUser(), ...fields })))
}

/** The same for an act on files. */
export function recordAct(args: Arguments, io: CommandIo, fields: LogFields): Promise<void> {
  return warned(io, () => withStore(args, io, (store) => leave(store, actOf({ by: localUser(), ...fields }))))
}

/** The gateway that serves from the store logs the opening of an exception when it sees it. */
export function leave(store: StorePart<'acts.add'>, facts: EntryFacts): Promise<void> {
  const isLogged = facts.act === 'break_glass.opened'
  return store.acts.add({ id: actId(facts), at: Date.now(), isLogged, facts })
}

async function warned(io: CommandIo, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    writeLine(io.stderr, `done, but the decision log gets no entry of it: ${messageOf(error)}`)
  }
}
