import { eachLane } from "../../ir/lane-mask.ts";
import type { Op } from "../../ir/index.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { restoreStack, stackPointer, takePiece } from "../../program/stack.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import type { Slot } from "../compile/register-file.ts";

/** Section 9.7.17.3. The piece belongs to the lane, and ends with the activation. */
export function makeAlloca(d: Decoding, op: Extract<Op, { kind: "alloca" }>): Run {
  const size = d.operands.slot(op.size);
  const { prepare } = d.operands;
  const [to] = d.results;
  return (x, mask) => {
    prepare(x, mask);
    eachLane(mask, (lane) => {
      const bytes =
        size.class === "b64" ? Number(BigInt.asUintN(64, x.i64[size.base + lane]!)) : x.i32[size.base + lane]! >>> 0;
      const address = takePiece(x, { site: d.site, lane, bytes, align: op.align });
      if (to) writeAddress(x, to, lane, address);
    });
  };
}

export function makeStackSave(d: Decoding): Run {
  const [to] = d.results;
  return (x, mask) => {
    if (!to) return;
    eachLane(mask, (lane) => {
      writeAddress(x, to, lane, stackPointer(x, lane));
    });
  };
}

/** Gives back what the lane took since the matching `stacksave`. */
export function makeStackRestore(d: Decoding, op: Extract<Op, { kind: "stack-restore" }>): Run {
  const value = d.operands.slot(op.value);
  const { prepare } = d.operands;
  return (x, mask) => {
    prepare(x, mask);
    eachLane(mask, (lane) => {
      const low = x.i32[value.class === "b64" ? (value.base + lane) * 2 : value.base + lane]! >>> 0;
      restoreStack(x, lane, low);
    });
  };
}

function writeAddress(x: Activation, to: Slot, lane: number, address: number): void {
  if (to.class === "b64") x.i64[to.base + lane] = BigInt(address);
  else x.i32[to.base + lane] = address;
}
