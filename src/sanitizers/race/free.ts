import { type Argument, windows } from "../../ir/index.ts";
import type { CallEvent } from "../../machine/events.ts";
import { locate } from "../../machine/faults/locate.ts";
import { readElement } from "../../machine/memory/views.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { fold } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";

/** By lane, the pointer that a call passes as its only argument; 0 for other lanes. */
export function pointersTo({ activation: x, site, mask }: CallEvent): BigInt64Array {
  const { op } = site.instruction;
  const [arg] = op.kind === "call" ? op.args : [];
  return BigInt64Array.from({ length: 32 }, (_, lane) => {
    if (((mask >>> lane) & 1) === 0 || arg === undefined) return 0n;
    if (arg.kind === "value") return BigInt(patternOf(arg.value.ty, fold(arg.value, x.code.leafValue(x, lane))));
    return arg.kind === "frame" ? inFrame(x, lane, arg) : 0n;
  });
}

function inFrame(x: Activation, lane: number, { variable, size }: Extract<Argument, { kind: "frame" }>): bigint {
  const low = windows.local.start + x.base + x.code.frame.offsets[variable]!;
  const place = locate(x, lane, { high: 0, low });
  if (place === null) return 0n;
  return BigInt(readElement(place.views, place.at + low - place.start, size === 4 ? 32 : 64, false));
}
