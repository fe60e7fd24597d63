import { fragmentOf, type MatrixProduct, type Op, tensorInstruction, type UnitOpOf } from "../ir/index.ts";
import { lanesIn } from "../ir/lane-mask.ts";
import type { LaneEvent } from "../machine/events.ts";
import { fold } from "../semantics/index.ts";

/** Products of matrices that an instruction makes, and the multiplications in them, each with an addition. */
export interface MatrixWork {
  readonly products: number;
  readonly multiplyAdds: number;
}

/** Returns the products of the lanes that execute an instruction; null if it multiplies no matrices. */
export function matrixWorkOf(event: LaneEvent): MatrixWork | null {
  const { op } = event.site.instruction;
  if (op.kind === "warp") return op.warp.op === "multiply" ? once(op.warp.product) : null;
  if (op.kind !== "unit") return null;
  if (op.unit.op === "multiply-warpgroup") return once(op.unit.product.tile);
  return op.unit.op === "tensor-multiply" ? tensorWork(event, op, op.unit) : null;
}

function once(product: MatrixProduct): MatrixWork {
  const { m, n, k } = product;
  return { products: 1, multiplyAdds: m * n * k * fragmentOf(product, "d").products };
}

/** The number of the operand that is the instruction's descriptor. */
const descriptor = 3;

/** Products into tensor memory: one for each lane, of the shape that its descriptor gives. */
function tensorWork(
  { activation: x, mask }: LaneEvent,
  { operands }: Extract<Op, { kind: "unit" }>,
  { kind }: UnitOpOf<"tensor-multiply">,
): MatrixWork {
  let multiplyAdds = 0;
  const lanes = lanesIn(mask);
  for (const lane of lanes) {
    const found = tensorInstruction(kind, Number(fold(operands[descriptor]!, x.code.leafValue(x, lane))));
    // What is no descriptor is going to be reported.
    if (typeof found !== "string") multiplyAdds += (found.m * found.n * found.k) / (found.sparse ? 2 : 1);
  }
  return { products: lanes.length, multiplyAdds };
}
