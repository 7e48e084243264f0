/** Size and shape of a value with shared parts (YAML aliases), computed on the shared graph. */
import { composePointer } from './pointer.ts'

interface GraphMeasure {
  /** Pointer of a value that contains itself, or null. */
  readonly cycle: string | null
  readonly isTooDeep: boolean
  /** Nodes of the expanded tree ÷ nodes of the graph; 1 without sharing. */
  readonly expansion: number
}

interface ExpandedNode {
  /** Nodes after expansion, this one included. */
  readonly size: number
  /** Levels of containers, this one included. */
  readonly height: number
}

const SCALAR: ExpandedNode = { size: 1, height: 0 }

/** Measures each shared part once. Recursion ends at `maxDepth`, so hostile chains of aliases cannot exhaust the stack. */
export function measureGraph(root: unknown, maxDepth: number): GraphMeasure {
  const measured = new Map<object, ExpandedNode | 'open'>()
  const path: string[] = []
  let cycle: string | null = null
  let isTooDeep = false
  let written = 0

  function measure(value: unknown): ExpandedNode {
    if (typeof value !== 'object' || value === null) {
      written++
      return SCALAR
    }
    const known = measured.get(value)
    if (known === 'open') cycle ??= composePointer(path)
    if (known !== undefined) return known === 'open' ? SCALAR : known
    if (path.length >= maxDepth) isTooDeep = true
    if (isTooDeep || cycle !== null) return SCALAR
    written++
    measured.set(value, 'open')
    const part = combine(value)
    measured.set(value, part)
    return part
  }

  function combine(container: object): ExpandedNode {
    let size = 1
    let height = 0
    for (const [token, child] of Object.entries(container)) {
      path.push(token)
      const part = measure(child)
      path.pop()
      size += part.size
      height = Math.max(height, part.height)
    }
    return { size, height: height + 1 }
  }

  const whole = measure(root)
  return { cycle, isTooDeep: isTooDeep || whole.height > maxDepth, expansion: whole.size / Math.max(written, 1) }
}
