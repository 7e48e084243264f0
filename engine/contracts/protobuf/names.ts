/** Full names of declarations: parts with dots between them. */

/** The scope around a full name; empty at the top of a package. */
export function outerOf(scope: string): string {
  return scope.slice(0, Math.max(scope.lastIndexOf('.'), 0))
}
