/** The options that name a configuration, shared by the commands which work on a data directory. */
import type { ConfigSource } from '../config/load.ts'
import { configFile, loadConfig } from '../config/load.ts'
import { ConfigError } from '../errors/mistake.ts'
import type { Config } from '../config/schema.ts'
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

/** Throws a ConfigError with every mistake. */
export function configOf(args: Arguments, io: CommandIo): Config {
  const loaded = loadConfig(configSource(args, io))
  if (!loaded.ok) throw new ConfigError(loaded.problem)
  return loaded.value.config
}
