/**
 * Names of header fields as servers behind CGI, FastCGI, WSGI and PHP read them: for them `X_Original_URL` and
 * `X.Original.URL` are the same field as `X-Original-URL`.
 */

/** Any character other than those that all servers keep in a name. */
const ODD = /[^A-Za-z0-9-]/
const EACH_ODD = /[^A-Za-z0-9-]/g

/** Whether some servers read the name as another one. */
export function isOddField(name: string): boolean {
  return ODD.test(name)
}

/** The name with a hyphen for every character that such servers replace. */
export function meantField(name: string): string {
  return name.replaceAll(EACH_ODD, '-')
}

/** Fields in which frameworks look for the method of a request, in lower case. */
export const METHOD_FIELDS = [
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-override-method',
  'x-http-verb-override',
  'x-http-verb',
  'x-tunneled-method',
  'x-method',
  'http-method-override',
  'method-override',
] as const

/**
 * Fields from which servers take another path, or a part of the path to cut off, in lower case. Examples are
 * `SCRIPT_NAME` of gunicorn, `X-Script-Name` of Flask behind proxies, and `X-Original-URL` of Symfony and IIS.
 */
export const OTHER_PATH_FIELDS: ReadonlySet<string> = new Set([
  'x-original-url',
  'x-rewrite-url',
  'x-override-url',
  'x-http-destinationurl',
  'x-waws-unencoded-url',
  'script-name',
  'x-script-name',
  'path-info',
  'x-path-info',
])

/** Fields that name a second path, which a request copies or moves from or to, in lower case (WebDAV, object stores). */
export const PATH_FIELDS = [
  'destination',
  'x-amz-copy-source',
  'x-amz-rename-source',
  'x-goog-copy-source',
  'x-ms-copy-source',
  'x-ms-rename-source',
  'x-oss-copy-source',
  'x-cos-copy-source',
  'x-obs-copy-source',
  'x-copy-from',
] as const
