import {
  type Access,
  accessesOf,
  atAddress,
  type IrFunction,
  type MemoryAccess,
  type Op,
  type Param,
  plainAccess,
  windows,
} from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import { anything, type PointerRoot, PointerRoots, rootKey } from "./pointer-roots.ts";
import { type HiddenParam, paramBytesOf, type Plane } from "./shadow-plan.ts";
import type { IsGlobal } from "./watch-choices.ts";
import type { WatchedCode } from "./watched-code.ts";

/** Allocations to which an address may belong, at most: one of more may lie anywhere. */
const maxRoots = 4;

/** Whether an access may be one of global memory. */
const isGlobalAccess = ({ space }: Access): boolean => space === "global" || space === "generic";

const sizeOf = ({ kind }: HiddenParam): 4 | 8 => (kind === "firstNumber" ? 4 : 8);

/** The parameters that watched code gets beyond those of its kernel. Functions find them where the kernel does. */
export class HiddenParams {
  readonly list: HiddenParam[] = [];
  readonly #known = new Map<string, HiddenParam>();
  #end: number;

  constructor(kernel: IrFunction) {
    this.#end = Math.ceil(paramBytesOf(kernel) / 8) * 8;
  }

  /** The parameter with a name, which it gets when it is first asked for. */
  named(name: string, make: (offset: number) => HiddenParam): HiddenParam {
    let param = this.#known.get(name);
    if (param === undefined) {
      param = make(this.#end);
      this.#known.set(name, param);
      this.list.push(param);
      this.#end += 8;
    }
    return param;
  }

  /** The kernel with these parameters. */
  addedTo(ir: IrFunction): IrFunction {
    const added = this.list.map((hidden): Param => {
      const size = sizeOf(hidden);
      return {
        name: `watch ${hidden.offset}`,
        type: { kind: "u", size, align: size, unsized: false },
        storage: { kind: "kernel", offset: hidden.offset },
      };
    });
    return { ...ir, params: [...ir.params, ...added] };
  }
}

/** What the addresses of a function's accesses to global memory are computed from. */
export class GlobalRoots {
  readonly #roots: PointerRoots;
  readonly #isGlobal: IsGlobal;
  readonly #ir: IrFunction;

  constructor(ir: IrFunction, isGlobal: IsGlobal) {
    this.#ir = ir;
    this.#roots = new PointerRoots(ir);
    this.#isGlobal = isGlobal;
  }

  /** The candidates; `anything` alone where none is known, or too many. */
  of(address: Expr): readonly PointerRoot[] {
    const found = this.#roots.of(address).filter((root) => root.kind !== "variable" || this.#isGlobal(root.name));
    return found.length === 0 || found.length > maxRoots ? [anything] : found;
  }

  /** Those of the accesses to global memory for which a condition holds. */
  all(holds: (access: MemoryAccess, op: Op) => boolean): readonly PointerRoot[] {
    const found = new Map<string, PointerRoot>();
    for (const { op } of this.#ir.instructions) {
      for (const made of accessesOf(op)) {
        if (!isGlobalAccess(made.access) || made.place.kind !== "address" || !holds(made, op)) continue;
        for (const root of this.of(made.place.address)) found.set(rootKey(root), root);
      }
    }
    return [...found.values()];
  }
}

/** A function's view of the parameters that watched code gets: it loads those that it needs where it begins. */
export class LoadedParams {
  readonly #code: WatchedCode;
  readonly #params: HiddenParams;
  /** Null where all addresses may lie anywhere. */
  readonly #roots: GlobalRoots | null;
  readonly #loaded = new Map<string, Expr>();

  constructor(code: WatchedCode, params: HiddenParams, roots: GlobalRoots | null) {
    this.#code = code;
    this.#params = params;
    this.#roots = roots;
  }

  /** The address of the word that says whether there may be anything to report. */
  get alarm(): Expr {
    return this.#load("alarm", (offset) => ({ kind: "alarm", offset }));
  }

  /** The number of the launch's first thread, less one. */
  get firstNumber(): Expr {
    return this.#load("first", (offset) => ({ kind: "firstNumber", offset }));
  }

  /** What is added to an address, scaled, to find the word of a plane. */
  planeFor(plane: Plane, address: Expr): Expr {
    const roots = this.#roots?.of(address) ?? [anything];
    const [last, ...others] = roots.map((root) => this.#planeOf(root, plane)).reverse();
    const rest = [...roots].reverse().slice(1);
    return others.reduce((found, at, i) => k.select(this.#isIn(rest[i]!, address), at, found), last!);
  }

  #planeOf(root: PointerRoot, plane: Plane): Expr {
    return this.#load(`${plane} ${rootKey(root)}`, (offset) => ({ kind: "plane", offset, root, plane }));
  }

  #isIn(root: PointerRoot, address: Expr): Expr {
    const [start, bytes] = (["start", "bytes"] as const).map((kind) =>
      this.#load(`${kind} ${rootKey(root)}`, (offset) => ({ kind, offset, root })),
    );
    return k.lt(k.sub(address, start!), bytes!, false);
  }

  #load(name: string, make: (offset: number) => HiddenParam): Expr {
    let value = this.#loaded.get(name);
    if (value !== undefined) return value;
    const param = this.#params.named(name, make);
    const size = sizeOf(param);
    value = this.#code.register(size === 4 ? "b32" : "b64");
    const address = k.i64(BigInt(windows["kernel-param"].start + param.offset));
    const access = plainAccess("kernel-param", size === 4 ? 32 : 64);
    this.#code.begin({ kind: "load", access, place: atAddress(address) }, [value]);
    this.#loaded.set(name, value);
    return value;
  }
}
