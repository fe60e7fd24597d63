import { ByteWriter } from "./bytes.ts";
import type { FunctionBody } from "./function-body.ts";
import type { WasmTy } from "./operation.ts";

export const typeBytes: Readonly<Record<WasmTy, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/**
 * A function's code and its branch hints: the offset of a conditional branch in the code, and the likely outcome of its
 * condition.
 */
export interface FunctionCode {
  readonly bytes: Uint8Array;
  readonly hints: readonly (readonly [offset: number, expected: boolean])[];
}

/** Puts a function's code together: its locals, then its instructions. */
export function functionCode(
  { code, locals, calls, hints: likely }: FunctionBody,
  indexOf: (name: string) => number,
): FunctionCode {
  const head = new ByteWriter();
  const runs: { ty: WasmTy; count: number }[] = [];
  for (const ty of locals) {
    const last = runs.at(-1);
    if (last?.ty === ty) last.count++;
    else runs.push({ ty, count: 1 });
  }
  head.unsigned(runs.length);
  for (const { ty, count } of runs) {
    head.unsigned(count);
    head.byte(typeBytes[ty]);
  }
  const hints: (readonly [number, boolean])[] = [];
  let from = 0;
  let next = 0;
  const append = (end: number): void => {
    for (let hint = likely[next]; hint !== undefined && hint.at < end; hint = likely[++next]) {
      hints.push([head.length + hint.at - from, hint.expected]);
    }
    head.append(code.bytes.subarray(from, end));
    from = end;
  };
  for (const { at, callee } of calls) {
    append(at);
    head.unsigned(indexOf(callee));
  }
  append(code.length);
  head.byte(0x0b);
  return { bytes: head.bytes.slice(), hints };
}
