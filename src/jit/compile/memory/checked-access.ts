import type { FunctionWriter, Wasm } from "../../../wasm/index.ts";
import type { WideLoadPart } from "../analysis/access/wide-loads.ts";
import type { AccessOffset } from "./lane-offsets.ts";

/** Where an instruction accesses memory. `offset`: bytes to be added to the places. */
export interface CheckedAccess extends AccessOffset {
  /** 1 where the places are good; else each lane's is to be found. A constant or a local. */
  readonly ok: Wasm;
  /** Where it is 0, another condition, if there is one, under which the places are good for the lanes that are active. */
  readonly rescue: Wasm | null;
  /** Whether the others do no harm when they load like these, or store what was there. */
  readonly isNear: boolean;
  /** Where each lane has an address of its own: what is better loaded at once with other words. */
  readonly strip: WideLoadPart | null;
  /** Gives locals back, when the access is written. */
  readonly release: () => void;
}

/** `then` where the places are good, `active` where they are for the lanes that are active, else `otherwise`. */
export function either(
  w: FunctionWriter,
  { ok, rescue }: CheckedAccess,
  then: () => void,
  otherwise: () => void,
  active = then,
): void {
  const rescued = (): void => {
    w.value(rescue!);
    w.expect(true);
    w.if(active, otherwise);
  };
  if (ok.kind === "const" && ok.value === 1) then();
  else {
    w.value(ok);
    w.expect(true);
    w.if(then, rescue === null ? otherwise : rescued);
  }
}
