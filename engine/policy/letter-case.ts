/**
 * Rewrites a request expression for a server that ignores letter case in paths. Texts that are compared with the path
 * are folded, others are unchanged. It also lists the member names that an expression reads.
 */
import type { Expression } from './expression.ts'

/** The one folding of paths; whoever gives folded facts folds them so. */
function foldedText(text: string): string {
  return text.normalize('NFKC').replaceAll('\u017F', 's').toLowerCase()
}

/** Each side of these is a condition of its own. */
const LOGICAL: ReadonlySet<string> = new Set(['_&&_', '_||_', '!_', '_?_:_'])
const INDEX = '_[_]'
const IN = '@in'

/** Writes into the expression, which is used for nothing else. @returns true when a text has changed */
export function foldPathTexts(expression: Expression): boolean {
  return new Folding().visit(expression, false, new Set())
}

type Operand = Expression | undefined

class Folding {
  /** @param isCompared with the path @param bound variables that stand for a part of the path */
  visit(expression: Operand, isCompared: boolean, bound: ReadonlySet<string>): boolean {
    const kind = expression?.exprKind
    switch (kind?.case) {
      case 'constExpr':
        return isCompared && foldConstant(kind.value)
      case 'selectExpr':
        return this.visit(kind.value.operand, isCompared, bound)
      case 'callExpr':
        return this.#call(kind.value, isCompared, bound)
      case 'listExpr':
        return this.#all(kind.value.elements, isCompared, bound)
      case 'structExpr':
        return this.#all(
          kind.value.entries.map(({ value }) => value),
          isCompared,
          bound,
        )
      case 'comprehensionExpr': {
        const { iterVar, iterVar2, iterRange, accuInit, loopCondition, loopStep, result } = kind.value
        const isOfPath = readsPath(iterRange, bound)
        const inside = isOfPath ? new Set([...bound, iterVar, iterVar2]) : bound
        const isChanged = this.#all([iterRange, accuInit], isCompared, bound)
        return this.#all([loopCondition, loopStep, result], isCompared, inside) || isChanged
      }
      case 'identExpr':
      case undefined:
    }
    return false
  }

  #call(
    call: { readonly function: string; readonly target?: Operand; readonly args: readonly Expression[] },
    isCompared: boolean,
    bound: ReadonlySet<string>,
  ): boolean {
    const parts = [call.target, ...call.args]
    if (LOGICAL.has(call.function)) return this.#all(parts, false, bound)
    // A key is a name, and no text of a path.
    if (call.function === INDEX) return this.visit(call.args[0], isCompared, bound)
    const isOfPath = isCompared || parts.some((part) => readsPath(part, bound))
    if (call.function === 'matches') return isOfPath && ignoreCase(call.args.at(-1))
    return this.#all(parts, isOfPath, bound)
  }

  #all(parts: readonly Operand[], isCompared: boolean, bound: ReadonlySet<string>): boolean {
    return parts.map((part) => this.visit(part, isCompared, bound)).includes(true)
  }
}

interface Constant {
  readonly constantKind: { case?: string | undefined; value?: unknown }
}

function foldConstant({ constantKind }: Constant): boolean {
  if (constantKind.case !== 'stringValue' || typeof constantKind.value !== 'string') return false
  const folded = foldedText(constantKind.value)
  if (folded === constantKind.value) return false
  constantKind.value = folded
  return true
}

function ignoreCase(pattern: Operand): boolean {
  const kind = pattern?.exprKind
  if (kind?.case !== 'constExpr' || kind.value.constantKind.case !== 'stringValue') return false
  // In lower case it means the same already, but for classes that are written in capitals.
  if (kind.value.constantKind.value === kind.value.constantKind.value.toLowerCase()) return false
  kind.value.constantKind.value = `(?i)${kind.value.constantKind.value}`
  return true
}

/** True when its value may come from the path of the request. */
function readsPath(expression: Operand, bound: ReadonlySet<string>): boolean {
  const kind = expression?.exprKind
  switch (kind?.case) {
    case 'identExpr':
      return bound.has(kind.value.name)
    case 'selectExpr': {
      const operand = kind.value.operand?.exprKind
      const isRequest = operand?.case === 'identExpr' && operand.value.name === 'request'
      return isRequest ? PATH_FIELDS.has(kind.value.field) : readsPath(kind.value.operand, bound)
    }
    case 'callExpr':
      return [kind.value.target, ...kind.value.args].some((part) => readsPath(part, bound))
    case 'listExpr':
      return kind.value.elements.some((part) => readsPath(part, bound))
    case 'comprehensionExpr':
      return readsPath(kind.value.iterRange, bound) || readsPath(kind.value.loopStep, bound)
    case 'structExpr':
      return kind.value.entries.some(({ value }) => readsPath(value, bound))
    case 'constExpr':
    case undefined:
  }
  return false
}

const PATH_FIELDS: ReadonlySet<string> = new Set(['path', 'segments'])

/** Names of members that the expression may read; where it goes over members in a loop, every text in it may be one. */
export function memberNames(expression: Expression): ReadonlySet<string> {
  const names = new Set<string>()
  collectTexts(expression, names, { isKey: false, hasLoop: false })
  return names
}

interface TextSlot {
  readonly isKey: boolean
  readonly hasLoop: boolean
}

function collectTexts(expression: Operand, names: Set<string>, place: TextSlot): void {
  const kind = expression?.exprKind
  const plain = { ...place, isKey: false }
  switch (kind?.case) {
    case 'constExpr':
      if ((place.isKey || place.hasLoop) && kind.value.constantKind.case === 'stringValue')
        names.add(kind.value.constantKind.value)
      return
    case 'selectExpr':
      names.add(kind.value.field)
      collectTexts(kind.value.operand, names, plain)
      return
    case 'callExpr': {
      const { target, args } = kind.value
      collectTexts(target, names, plain)
      for (const [index, part] of args.entries()) {
        const isKey = (kind.value.function === INDEX && index === 1) || (kind.value.function === IN && index === 0)
        collectTexts(part, names, { ...place, isKey })
      }
      return
    }
    case 'listExpr':
      for (const part of kind.value.elements) collectTexts(part, names, place)
      return
    case 'structExpr':
      for (const { value } of kind.value.entries) collectTexts(value, names, plain)
      return
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = kind.value
      for (const part of [iterRange, accuInit, loopCondition, loopStep, result])
        collectTexts(part, names, { isKey: false, hasLoop: true })
      return
    }
    case 'identExpr':
    case undefined:
  }
}
