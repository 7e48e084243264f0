/** The page of the sign-in, and the address that a person goes to afterwards. */
import { gate } from './layout.ts'
import { html, type Markup } from '../markup.ts'
import { notice } from '../parts.ts'
import type { Provider } from '../../callers/settings.ts'

const PROBLEMS = {
  unknown: 'This key is not known here, or it was revoked.',
  role: 'A key of the role "agent" cannot be used here. Ask for a key of a person.',
  cookie:
    'The browser did not keep the session. Open the console over HTTPS, or on localhost: its cookie is refused elsewhere.',
} as const
export type SignInProblem = keyof typeof PROBLEMS

export function signInPage(problem: SignInProblem | null, next: string, providers: readonly Provider[]): Markup {
  return gate(
    'Sign in',
    html`<div class="stack">
        <h1>Sign in</h1>
        ${problem === null ? null : notice('bad', PROBLEMS[problem])}
      </div>
      ${providers.map(
        ({ name, title }) =>
          html`<a class="button primary" href="/console/sign-in/${name}?next=${encodeURIComponent(next)}"
            >${`Sign in with ${title ?? name}`}</a
          >`,
      )}
      <form method="post" action="/console/sign-in">
        <input type="hidden" name="next" value="${next}" />
        <label
          >API key
          <input
            type="password"
            name="key"
            required
            autofocus
            autocomplete="current-password"
            spellcheck="false"
            maxlength="512"
          />
          <span class="hint"
            >The key of a viewer, approver, operator or admin. Make one with <code>preflight keys create</code>.</span
          >
        </label>
        ${providers.length === 0 ? html`<button class="primary">Sign in</button>` : html`<button>Sign in</button>`}
      </form>`,
  )
}

/** A path of the console and nothing else: a link must not lead away after the sign-in. Browsers resolve dots in paths. */
export function nextPath(given: string | null): string {
  if (given === null || !isConsolePath(given) || !/^[!-[\]-~]{1,2000}$/.test(given)) return '/console'
  const { pathname } = new URL(given, 'http://console.invalid')
  return isConsolePath(pathname) ? given : '/console'
}

function isConsolePath(path: string): boolean {
  return /^\/console(?:[/?]|$)/.test(path) && !path.startsWith('/console/sign-')
}
