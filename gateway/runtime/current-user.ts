/** The user that the process runs as. In a container the system may know no name and no home for it. */
import { homedir, userInfo } from 'node:os'

/** The name, or the number of a user without one. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** The home folder. Without one it is the root folder, as container runtimes have it: nothing is found there, or written. */
export function homeFolder({ HOME }: Readonly<Record<string, string | undefined>>): string {
  if (HOME !== undefined && HOME !== '') return HOME
  try {
    return homedir()
  } catch {
    return '/'
  }
}
