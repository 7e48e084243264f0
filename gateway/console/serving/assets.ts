/** The files that pages load. Their addresses contain their hash, so browsers never need to load them again. */
import { sha256Hex } from '../../runtime/hash.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

interface Asset {
  readonly type: string
  readonly text: string
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="none" stroke="#2450c9" stroke-width="2"><path d="M6 2.5H3.5v15H6M14 2.5h2.5v15H14"/><path d="m6.5 10.5 2.5 2.5 4.5-6"/></svg>'

const named = (name: string, ending: string, text: string) =>
  `/console/assets/${name}.${sha256Hex(text).slice(0, 12)}.${ending}`

export const STYLE_PATH = named('console', 'css', STYLE)
export const SCRIPT_PATH = named('console', 'js', SCRIPT)

export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  [STYLE_PATH, { type: 'text/css; charset=utf-8', text: STYLE }],
  [SCRIPT_PATH, { type: 'text/javascript; charset=utf-8', text: SCRIPT }],
  ['/console/assets/icon.svg', { type: 'image/svg+xml', text: ICON }],
])
