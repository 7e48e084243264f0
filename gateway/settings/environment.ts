/** The one file that reads process.env. All other code receives an Environment. */

export type Environment = Readonly<Record<string, string | undefined>>

export function processEnvironment(): Environment {
  return process.env
}

/** Empty counts as unset: charts and compose files pass empty variables for unset options. */
export function variable(environment: Environment, name: string): string | null {
  const value = environment[name]
  return value === undefined || value === '' ? null : value
}

/** Variables that are not a configuration leaf. */
export const OTHER_VARIABLES = {
  PREFLIGHT_CONFIG: 'Configuration file, as --config.',
  PREFLIGHT_BOOTSTRAP_KEY:
    'The first admin API key of an empty store, at least 24 characters; else one is made and printed once.',
  PREFLIGHT_URL: 'Address of the API of a running gateway, for commands.',
  PREFLIGHT_HOME: 'Folder of `preflight mcp`; else ~/.preflight.',
  PREFLIGHT_API_KEY: 'API key for commands that work with a running gateway.',
} as const satisfies Readonly<Record<`PREFLIGHT_${string}`, string>>
