/**
 * Commands of pages that are no tasks, run one by one as they are printed. Their folder has what the reader of the page has. What
 * no test can do is listed with its reason.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { marked } from 'marked'
import { cloned, preflightFunction, printedBy, type PastedStep } from './pasted.ts'

const DOCS = join(import.meta.dirname, '../../docs')

interface CommandPage {
  readonly page: string
  /** What the reader has before the first command. */
  readonly before: readonly string[]
  /** Beginnings of commands that are not run here, and why. */
  readonly elsewhere?: Readonly<Record<string, string>>
  /** Exit codes other than 0, by the beginning of the command. */
  readonly exits?: Readonly<Record<string, number>>
  /** Texts of the page that stand for the reader's own. */
  readonly own?: Readonly<Record<string, string>>
  /** What a command prints, by its beginning. */
  readonly prints?: Readonly<Record<string, RegExp | string>>
}

const GIT = 'git -c user.name=me -c user.email=me@shop.example'
const CONTRACTS = [
  'cp examples/shop/before.yaml old.yaml && cp examples/shop/after.yaml new.yaml && mkdir api && cp old.yaml api/openapi.yaml',
  `git init -q -b main && git add api && ${GIT} commit -qm "the contract" && git update-ref refs/remotes/origin/main HEAD`,
  'cp new.yaml api/openapi.yaml',
]
const serving = (config: string): readonly string[] => [
  `preflight serve --config ${config} > gateway.log 2>&1 &`,
  'curl -s --retry 60 --retry-delay 1 --retry-connrefused -o ready.json http://127.0.0.1:15090/readyz',
  'for try in $(seq 100); do grep -q \'"status":"ready"\' ready.json && break; sleep 0.3; curl -s -o ready.json http://127.0.0.1:15090/readyz; done',
]
const keyOf = (role: string): string =>
  `export PREFLIGHT_URL=http://127.0.0.1:15081 PREFLIGHT_API_KEY="$(preflight keys create --name me --role ${role} | tail -1)"`
const CERTIFICATE =
  'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.crt -days 30 -subj /CN=localhost 2>openssl.log'

const PAGES: readonly CommandPage[] = [
  {
    page: 'policy-testing.md',
    before: [
      ...CONTRACTS,
      'cp policies/default/pack.yaml policies/default/cases.yaml . && mkdir ledger',
      'preflight keys create --name me --role viewer --data-dir ledger > key.txt',
    ],
    elsewhere: {
      'preflight policy test ./pack.yaml --watch': 'it runs until it is stopped',
      'preflight policy explain dec_…': 'it names a decision of the reader',
    },
    exits: { 'preflight policy simulate': 1, 'preflight policy explain ./pack.yaml': 1 },
    own: { '/var/lib/preflight': 'ledger' },
    prints: {
      'preflight policy lint': /pack\.yaml: valid/,
      'preflight policy simulate': /^default: BLOCK[^]*this is not a permission/,
      'preflight policy explain ./pack.yaml': /Its condition is true/,
      'preflight policy replay': /^default on 0 logged decisions/,
    },
  },
  {
    page: 'diff.md',
    before: CONTRACTS,
    exits: {
      'preflight diff origin/main:api/openapi.yaml api/openapi.yaml --format github': 1,
      'preflight diff origin/main:api/openapi.yaml api/openapi.yaml --format junit': 1,
      'preflight diff old.yaml': 1,
    },
    prints: {
      'preflight diff origin/main:api/openapi.yaml api/openapi.yaml --format github':
        /^::error file=api\/openapi\.yaml/m,
    },
  },
  {
    page: 'hub.md',
    before: [...serving('examples/tools/preflight.yaml'), keyOf('viewer')],
    prints: { sha256sum: /^[0-9a-f]{64} {2}hub\.key$/m },
  },
  {
    page: 'admission.md',
    before: [
      CERTIFICATE,
      `node -e 'const [, yaml] = /\`\`\`yaml\\n([^]*?)\`\`\`/.exec(require("node:fs").readFileSync("${DOCS}/admission.md", "utf8")); require("node:fs").writeFileSync("preflight.yaml", yaml.replaceAll("/etc/preflight/tls/", "./"))'`,
      `echo '${JSON.stringify(deploymentReview())}' > review.json`,
    ],
    elsewhere: { 'kubectl apply': 'it needs an API server; the digest is compared in test/gateway/kubernetes' },
    exits: { 'preflight admission test': 1 },
    prints: { 'preflight admission test': refusalOnPage('admission.md') },
  },
  {
    page: 'tls-interception.md',
    before: serving('examples/tools/preflight.yaml'),
    own: { '/etc/ssl/certs/ca-certificates.crt': 'preflight-ca.pem' },
  },
  {
    page: 'break-glass.md',
    before: [
      'cp examples/shop/preflight.yaml . && cp examples/shop/*.yaml . && preflight keys create --name me --role admin --config preflight.yaml > key.txt',
    ],
    elsewhere: { 'preflight break-glass close ID': 'the id is that of the reader' },
    prints: { 'preflight break-glass list': /incident 4711/ },
  },
  {
    page: 'protocols/README.md',
    before: [...CONTRACTS, 'cp old.yaml openapi.yaml', ...serving('examples/tools/preflight.yaml'), keyOf('agent')],
    prints: { 'preflight preflight': /outcome +CONTINUE\n +decision +ALLOW/ },
  },
]

function deployment(replicas: number): object {
  const metadata = { name: 'web', namespace: 'shop' }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas } }
}

function deploymentReview(): object {
  const kind = { group: 'apps', version: 'v1', kind: 'Deployment' }
  const resource = { group: 'apps', version: 'v1', resource: 'deployments' }
  const request = { uid: 'u-1', kind, resource, name: 'web', namespace: 'shop', operation: 'UPDATE' }
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { ...request, userInfo: { username: 'me' }, object: deployment(2), oldObject: deployment(1) },
  }
}

/** What the page shows of a refusal, up to the part that it leaves out. */
function refusalOnPage(page: string): string {
  const [, shown = ''] = /denied the request: (.*?) ?…$/m.exec(readFileSync(join(DOCS, page), 'utf8')) ?? []
  assert.ok(shown.length > 20, 'the page shows a refusal')
  return shown
}

/** Commands of blocks that hold commands, without comments; continued lines are joined. */
function commandsOf(page: string): readonly string[] {
  const codes: { readonly lang: string; readonly text: string }[] = []
  void marked.walkTokens(marked.lexer(readFileSync(join(DOCS, page), 'utf8')), (token) => {
    if (token.type === 'code') codes.push({ lang: String(token['lang'] ?? ''), text: String(token['text']) })
  })
  return codes
    .filter(({ lang }) => ['', 'sh', 'console'].includes(lang))
    .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
    .filter((line) => /^(?:preflight|npm|curl|cat|printf|sha256sum|kubectl|export) /.test(line))
}

function beginsWith<T>(rows: Readonly<Record<string, T>>, command: string): T | undefined {
  return Object.entries(rows).find(([beginning]) => command.startsWith(beginning))?.[1]
}

async function assertRuns(t: TestContext, row: CommandPage): Promise<void> {
  const { page, before, elsewhere = {}, exits = {}, own = {}, prints = {} } = row
  const commands = commandsOf(page)
  const shown = commands.filter((command) => beginsWith(elsewhere, command) === undefined)
  assert.ok(shown.length > 0, 'the page has commands')
  const clone = await cloned(t)
  const mine = (command: string): string =>
    Object.entries(own).reduce((text, [theirs, other]) => text.replaceAll(theirs, other), command)
  const steps: readonly PastedStep[] = [
    ...preflightFunction(clone),
    ...before.map((script) => ({ script, prints: [] })),
    ...shown.map((command) => ({ script: `${mine(command)}\necho "exit code $?"`, prints: [] })),
  ]
  const printed = (await printedBy(clone, steps)).slice(-shown.length)
  for (const [index, command] of shown.entries()) {
    const text = printed[index] ?? ''
    assert.match(text, new RegExp(`^exit code ${beginsWith(exits, command) ?? 0}$`, 'm'), `${command}\n${text}`)
    const expected = beginsWith(prints, command) ?? ''
    assert.ok(typeof expected === 'string' ? text.includes(expected) : expected.test(text), `${command}\n${text}`)
  }
  for (const rows of [elsewhere, exits, prints])
    for (const beginning of Object.keys(rows))
      assert.ok(
        commands.some((command) => command.startsWith(beginning)),
        `no command begins with ${beginning}`,
      )
}

for (const row of PAGES) test(`the commands of docs/${row.page} do what the page says`, (t) => assertRuns(t, row))
