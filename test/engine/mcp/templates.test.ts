/** Resource templates that give the addresses of another one, and those that only look like it (RFC 6570). */
import { suite, test } from 'node:test'
import assert from 'node:assert/strict'
import { worstOf, type Worst } from '../elements.ts'

function offering(uriTemplate: string): unknown {
  return { tools: [], resourceTemplates: [{ uriTemplate, name: 'n' }] }
}

const ROWS: readonly (readonly [before: string, after: string, forth: Worst, back: Worst])[] = [
  ['file:///{path}', 'file:///{name}', 'dangerous', 'dangerous'],
  ['file:///{+path}', 'file:///{+name}', 'dangerous', 'dangerous'],
  ['x://{a}/{b}', 'x://{b}/{a}', 'dangerous', 'dangerous'],
  ['x://{a}', 'x://{a}{?v}', 'dangerous', 'breaking'],
  ['x://{a}{?v}', 'x://{b}{?v,w}', 'dangerous', 'breaking'],
  ['x://{a}{?v}', 'x://{a}{?w}', 'breaking', 'breaking'],
  ['x://{a}{?a}', 'x://{b}{?a}', 'breaking', 'breaking'],
  ['x://{a}/{a}', 'x://{a}/{b}', 'breaking', 'breaking'],
  ['x://{a}', 'x://{+a}', 'breaking', 'breaking'],
  ['x://{a:3}', 'x://{b:4}', 'breaking', 'breaking'],
  ['x://{a}', 'y://{a}', 'breaking', 'breaking'],
  ['x://{a}', 'x://{a}/b', 'breaking', 'breaking'],
]

suite('a resource template', () => {
  for (const [before, after, forth, back] of ROWS)
    test(`${before} becomes ${after}`, () => {
      const [base, head] = [offering(before), offering(after)]
      assert.deepEqual([worstOf('mcp_manifest', base, head), worstOf('mcp_manifest', head, base)], [forth, back])
    })
})
