/** Whether the gateway has a credential of its own at a platform. */
import { PLATFORMS, type PlatformId } from './platform.ts'
import type { ScmSettings } from './settings.ts'

export function hasCredential(scm: ScmSettings, platform: PlatformId): boolean {
  const { name } = PLATFORMS[platform]
  return scm[name].token_file !== undefined || (name === 'github' && scm.github.app !== undefined)
}
