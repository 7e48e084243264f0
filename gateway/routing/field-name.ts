/**
 * Names of header fields as servers behind CGI, FastCGI, WSGI and PHP read them: there `X_Original_URL` and `X.Original.URL` are the
 * same field as `X-Original-URL`.
 */

/** What a name consists of everywhere. */
const ODD = /[^A-Za-z0-9-]/
const EACH_ODD = /[^A-Za-z0-9-]/g

/** Whether some server reads the name as another one. */
export function isOddField(name: string): boolean {
  return ODD.test(name)
}

/** With a hyphen for every sign that becomes the same letter there. */
export function meantField(name: string): string {
  return name.replaceAll(EACH_ODD, '-')
}
