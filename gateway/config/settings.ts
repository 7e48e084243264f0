/** The settings that are in force, with the whole configuration. */
import type { CurrentSettingsOf, SettingsOf } from '../settings/current.ts'
import type { Config } from './schema.ts'

export type Settings = SettingsOf<Config>
export type CurrentSettings = CurrentSettingsOf<Config>
