/** The options that name a configuration, shared by the commands which work on a data directory. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ConfigSource } from '../config/load.ts'
import { configFile, dataDirectoryIn, loadConfig } from '../config/load.ts'
import { ConfigError } from '../errors/mistake.ts'
import type { Config } from '../config/schema.ts'
import { keyFile } from '../keys/key-file.ts'
import { readServing } from '../listen/local-access.ts'
import { variable, type Environment } from '../settings/environment.ts'
import { deskHome } from '../stdio/home.ts'
import type { Arguments, OptionSpec } from './command.ts'
import { writeLine, type CommandIo } from './io.ts'

export const CONFIG_OPTION: OptionSpec = {
  name: 'config',
  value: 'FILE',
  help: 'Configuration file (YAML or JSON); else PREFLIGHT_CONFIG, else the defaults.',
}

const DATA_DIR_OPTION: OptionSpec = {
  name: 'data-dir',
  value: 'DIR',
  help: 'Data directory; overrides the configuration.',
}

/** The data directory of a gateway. */
export const PLACE_OPTIONS: readonly OptionSpec[] = [CONFIG_OPTION, DATA_DIR_OPTION]

type ConfigFileSource = Extract<ConfigSource, { readonly file: string | null }>

/** The settings from the command line, the environment and the file together. */
export function configSource(args: Arguments, { environment }: CommandIo): ConfigFileSource {
  const dataDir = args.value('data-dir')
  return {
    file: configFile(args.value('config'), environment),
    environment: dataDir === undefined ? environment : { ...environment, PREFLIGHT_DATA_DIR: dataDir },
  }
}

/** The configuration as a person knows it. */
export function nameOfSource(source: ConfigSource): string {
  return ('file' in source ? source.file : null) ?? 'the default configuration'
}

/**
 * `configSource` for commands that look at what a gateway did. Without a configuration it is that of the gateway that serves
 * from the data directory. Where nothing names a gateway and none was started here, it is the gateway of `preflight mcp`.
 */
export function placeSource(args: Arguments, io: CommandIo): ConfigFileSource {
  const { environment } = io
  const named = ['PREFLIGHT_CONFIG', 'PREFLIGHT_DATA_DIR'].some((name) => variable(environment, name) !== null)
  const { config, folder } = deskHome(environment)
  const isNamed = named || args.value('config') !== undefined || args.value('data-dir') !== undefined
  if (!isNamed && !wasStartedHere(folder) && existsSync(config)) return { file: config, environment }
  const source = configSource(args, io)
  return source.file === null ? (servingSource(source.environment) ?? source) : source
}

/** The configuration of the gateway that serves from the data directory that the environment names, or from `.preflight` here. */
function servingSource(environment: Environment): ConfigFileSource | null {
  const directory = resolve(loaded({ file: null, environment }).data_dir)
  const file = readServing(directory)?.config ?? null
  if (file === null || !existsSync(file)) return null
  return { file, environment: { ...environment, PREFLIGHT_DATA_DIR: directory } }
}

/** Where a gateway without a configuration keeps its state. */
const HERE = '.preflight'

/** In the home directory this is also the folder of `preflight mcp`, whose own gateway keeps its state in a folder below. */
function wasStartedHere(desk: string): boolean {
  return resolve(HERE) === desk ? existsSync(keyFile(HERE)) : existsSync(HERE)
}

/** Throws a ConfigError with every mistake. */
export function configOf(args: Arguments, io: CommandIo): Config {
  return loaded(configSource(args, io))
}

/**
 * The same for commands that work on the data directory of a gateway. While the configuration on disk has mistakes, the settings
 * of the gateway that serves from there are in force.
 */
export function placeConfigOf(args: Arguments, io: CommandIo): Config {
  return placeSettingsOf(args, io).config
}

/** And the names of the routes. */
export function placeSettingsOf(args: Arguments, io: CommandIo): PlaceSettings {
  const source = placeSource(args, io)
  try {
    const config = loaded(source)
    return { config, routes: config.routes.map(({ name }) => name) }
  } catch (error) {
    const serving = error instanceof ConfigError ? servingInPlaceOf(source) : null
    if (serving === null) {
      if (error instanceof ConfigError) writeLine(io.stderr, ANOTHER_WAY)
      throw error
    }
    if (!WARNED.has(io))
      writeLine(
        io.stderr,
        `warning: ${nameOfSource(source)} has mistakes (preflight config check); the settings of the gateway that serves from ${serving.config.data_dir} are used`,
      )
    WARNED.add(io)
    return serving
  }
}

interface PlaceSettings {
  readonly config: Config
  readonly routes: readonly string[]
}

const ANOTHER_WAY =
  'fix the mistakes of the configuration first; if a gateway goes on with its earlier configuration, name its data directory (--data-dir) or its API (--url)'

/** One warning a command. */
const WARNED = new WeakSet<CommandIo>()

/** Null: no gateway serves there, it has another configuration, or its ledger is no file. */
function servingInPlaceOf({ file, environment }: ConfigFileSource): PlaceSettings | null {
  const named = variable(environment, 'PREFLIGHT_DATA_DIR')
  const directory = named ?? (file === null ? null : dataDirectoryIn(file))
  const serving = directory === null ? null : readServing(resolve(directory))
  if (serving === null || !serving.isRunning || serving.settings === null) return null
  if (named === null && serving.config !== (file === null ? null : resolve(file))) return null
  const { sections, routes } = serving.settings
  return { config: loaded({ value: sections, environment: {} }), routes }
}

function loaded(source: ConfigSource): Config {
  const loaded = loadConfig(source)
  if (!loaded.ok) throw new ConfigError(loaded.problem)
  return loaded.value.config
}
