import type { Access } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type CutCode, type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { WideLoadPart } from "../analysis/access/wide-loads.ts";
import type { Mask } from "../lanes/mask.ts";
import type { AccessOffsets } from "./lane-offsets.ts";

/** A checked access: the bytes of memory that an instruction accesses. */
export interface CheckedAccess extends AccessOffsets {
  /** 1 if the offsets are good; if 0, each lane's must be looked up. A constant or a local. */
  readonly ok: Wasm;
  /** If `ok` is 0: another condition, if there is one, under which the offsets of the active lanes are good. */
  readonly fallback: Wasm | null;
  /** Whether inactive lanes may load like the active ones, or store what was there. */
  readonly inactiveMayAccess: boolean;
  /** Where the addresses of active lanes may follow each other. */
  readonly run: AddressRun | null;
  /** The wide load of which this load takes a part, where that is faster. */
  readonly wideLoad: WideLoadPart | null;
  /** Releases the locals, once the access is written. */
  readonly release: () => void;
}

/** The offsets of lanes whose addresses follow each other, if they do. */
interface AddressRun extends Omit<AccessOffsets, "mayAdjoin"> {
  /** 1 if they do, and are good. A constant or a local. */
  readonly ok: Wasm;
  /**
   * Computes the offsets of all lanes, and checks them, for the case that they do not: written there, it does not take
   * locals that V8 would keep on all ways. Null where it has been written.
   */
  readonly each: CutCode | null;
}

/**
 * Writes versions of an access: `then` if all offsets are good, `active` if those of the active lanes are, else
 * `otherwise`. Where the first two are the same function, there is one version for both. `asRun`: where the addresses
 * may follow each other, for the case that they do.
 */
export function either(
  w: FunctionWriter,
  { ok, fallback, run }: Pick<CheckedAccess, "ok" | "fallback" | "run">,
  then: () => void,
  otherwise: () => void,
  active = then,
  asRun: ((where: AccessOffsets) => void) | null = null,
): void {
  if (run !== null) {
    if (asRun === null) throw new Error("an access of this kind is never a run");
    if (run.ok.kind === "const" && run.ok.value === 1) {
      asRun({ ...run, mayAdjoin: false });
      return;
    }
    w.value(run.ok);
    w.if(
      () => asRun({ ...run, mayAdjoin: false }),
      () => {
        run.each?.write();
        either(w, { ok, fallback, run: null }, then, otherwise, active);
      },
    );
    return;
  }
  if (fallback === null) decide(w, ok, then, otherwise);
  else if (active === then && ok.kind === "local" && fallback.kind === "local") {
    decide(w, wasm.op("i32.or", ok, fallback), then, otherwise);
  } else decide(w, ok, then, () => decide(w, fallback, active, otherwise));
}

/** Writes code for the case that addresses do not follow each other. */
export function unlessRun(w: FunctionWriter, ok: Wasm, code: CutCode): void {
  w.value(wasm.op("i32.eqz", ok));
  w.if(code.write);
  code.release();
}

/** Writes what a condition that probably holds decides: one case alone where it is a constant. */
function decide(w: FunctionWriter, condition: Wasm, then: () => void, otherwise: () => void): void {
  if (condition.kind === "const") {
    if (condition.value === 0) otherwise();
    else then();
    return;
  }
  w.value(condition);
  w.expect(true);
  w.if(then, otherwise);
}

/** Whether `then` is the only version that `either` writes. */
export const isAlwaysGood = ({ ok, run }: Pick<CheckedAccess, "ok" | "run">): boolean =>
  run === null && ok.kind === "const" && ok.value === 1;

/** Finds the bytes of an access that is looked up: by addresses, or by offsets into surfaces. */
export interface OffsetFinder {
  lookUp(index: number, access: Access, address: Expr, mask: Mask): void;
  loadFirstOffset(mask: Mask, into: number): void;
  loadOffsets(into: readonly number[]): void;
}

/** The same, for an access that is checked first. */
export interface AccessFinder extends OffsetFinder {
  check(index: number, active: Mask, mask: Mask): CheckedAccess;
}
