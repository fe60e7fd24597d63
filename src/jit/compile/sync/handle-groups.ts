import type { Expr } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { handlesAt } from "../../abi/image-words.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf, laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { vectorOf } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";

const { op } = wasm;

/** Writes an access for lanes that have the same handle; `otherwise`: where the launcher has to do it. */
export type GroupAccess = (handle: Wasm, lanes: readonly Wasm[], otherwise: () => void) => void;

/**
 * Writes an access by a handle that differs between lanes: group by group, each of the lanes that have the handle of
 * the first lane which is left. As soon as a group is the launcher's, all lanes are (`redoes`), or all that are left.
 */
export function eachHandle(
  chunk: Chunk,
  { context, layout }: FunctionContext,
  { operand, lanes, redoes }: { readonly operand: Expr; readonly lanes: readonly Wasm[]; readonly redoes: boolean },
  access: GroupAccess,
  byHost: (lanes: readonly Wasm[]) => void,
): void {
  const { writer: w, quads } = chunk;
  const at = layout.fragments + handlesAt;
  const parts = vectorOf(fitted(chunk.value(operand), "b64", quads), quads).quads.flat();
  parts.forEach((part, i) => {
    w.get(context);
    w.value(part);
    w.memory("v128.store", 16, at + 16 * i);
  });
  const [handle, isHosts] = [w.local("i64"), w.local("i32")];
  const left = lanes.map(() => w.local("v128"));
  const group = lanes.map(() => w.local("v128"));
  const [low, high] = [w.local("v128"), w.local("v128")];
  const v = (local: number): Wasm => wasm.local("v128", local);
  w.assign([...left.map((local, q) => ({ local, value: lanes[q]! })), { local: isHosts, value: wasm.i32(0) }]);
  w.block((done) => {
    w.loop((again) => {
      const first = op("i32.ctz", laneBits(left.map(v)));
      w.value(op("i32.add", wasm.local("i32", context), op("i32.shl", first, wasm.i32(3))));
      w.memory("i64.load", 8, at);
      w.set(handle);
      const wanted = op("i64x2.splat", wasm.local("i64", handle));
      group.forEach((local, q) => {
        for (const [half, to] of [low, high].entries()) {
          w.get(context);
          w.memory("v128.load", 16, at + 32 * q + 16 * half);
          w.set(to);
        }
        const isSame = wasm.shuffle32(op("i64x2.eq", v(low), wanted), op("i64x2.eq", v(high), wanted), [0, 2, 4, 6]);
        w.assign([{ local, value: op("v128.and", isSame, v(left[q]!)) }]);
      });
      access(wasm.local("i64", handle), group.map(v), () => w.assign([{ local: isHosts, value: wasm.i32(1) }]));
      w.get(isHosts);
      w.brIf(done);
      w.assign(left.map((local, q) => ({ local, value: op("v128.andnot", v(local), v(group[q]!)) })));
      w.value(anyOf(left.map(v)));
      w.brIf(again);
    });
  });
  w.get(isHosts);
  w.if(() => byHost(redoes ? lanes : left.map(v)));
  for (const local of [handle, isHosts, low, high, ...left, ...group]) w.release(local);
}
