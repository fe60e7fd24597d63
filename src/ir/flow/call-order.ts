/** The functions that one reaches. */
export interface CallOrder<F> {
  /** Each after all that it calls, as far as calls do not go in circles. */
  readonly functions: readonly F[];
  /** Whether one can be entered while it is being executed already. */
  readonly recursive: boolean;
}

/** Depth first, without recursion: calls may nest as deep as there are functions. */
export function callOrder<F>(kernel: F, calleesOf: (f: F) => Iterable<F>): CallOrder<F> {
  const functions: F[] = [];
  let recursive = false;
  const seen = new Set<F>();
  const open = new Set<F>();
  const path: { readonly f: F; readonly callees: Iterator<F> }[] = [];
  const enter = (f: F): void => {
    seen.add(f);
    open.add(f);
    path.push({ f, callees: calleesOf(f)[Symbol.iterator]() });
  };
  enter(kernel);
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    const { done, value: callee } = last.callees.next();
    if (done === true) {
      open.delete(last.f);
      functions.push(last.f);
      path.pop();
    } else if (open.has(callee)) recursive = true;
    else if (!seen.has(callee)) enter(callee);
  }
  return { functions, recursive };
}
