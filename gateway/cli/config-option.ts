/** The options that name a configuration, shared by the commands which work on a data directory. */
import { existsSync } from 'node:fs'
import type { ConfigSource } from '../config/load.ts'
import { configFile, loadConfig } from '../config/load.ts'
import { ConfigError } from '../errors/mistake.ts'
import type { Config } from '../config/schema.ts'
import { variable } from '../settings/environment.ts'
import { deskHome } from '../stdio/home.ts'
import type { Arguments, OptionSpec } from './command.ts'
import type { CommandIo } from './io.ts'

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

/** The settings from the command line, the environment and the file together. */
export function configSource(args: Arguments, { environment }: CommandIo): ConfigSource {
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
 * `configSource` for commands that look at what a gateway did: where nothing names a gateway and none was started here, the
 * gateway of `preflight mcp`.
 */
export function placeSource(args: Arguments, io: CommandIo): ConfigSource {
  const { environment } = io
  const named = ['PREFLIGHT_CONFIG', 'PREFLIGHT_DATA_DIR'].some((name) => variable(environment, name) !== null)
  const { config } = deskHome(environment)
  const isNamed = named || args.value('config') !== undefined || args.value('data-dir') !== undefined
  if (isNamed || existsSync(HERE) || !existsSync(config)) return configSource(args, io)
  return { file: config, environment }
}

/** Where a gateway without a configuration keeps its state. */
const HERE = '.preflight'

/** Throws a ConfigError with every mistake. */
export function configOf(args: Arguments, io: CommandIo): Config {
  return loaded(configSource(args, io))
}

/** The same for commands that look at what a gateway did. */
export function placeConfigOf(args: Arguments, io: CommandIo): Config {
  return loaded(placeSource(args, io))
}

function loaded(source: ConfigSource): Config {
  const loaded = loadConfig(source)
  if (!loaded.ok) throw new ConfigError(loaded.problem)
  return loaded.value.config
}
