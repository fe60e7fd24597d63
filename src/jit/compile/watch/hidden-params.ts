import {
  type Access,
  accessesOf,
  atAddress,
  type IrFunction,
  type Param,
  plainAccess,
  windows,
} from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import { type PointerRoot, PointerRoots, rootKey } from "./pointer-roots.ts";
import { type HiddenParam, paramBytesOf, type Plane } from "./shadow-plan.ts";
import type { IsGlobal } from "./watch-choices.ts";
import type { WatchedCode } from "./watched-code.ts";

/** Allocations to which an address may belong, at most. */
const maxRoots = 4;

const isGlobalAccess = ({ space }: Access): boolean => space === "global" || space === "generic";

/** The parameters that watched code gets beyond those of the kernel. It loads all of them where it begins. */
export class HiddenParams {
  readonly list: HiddenParam[] = [];
  /** Why the shadows of some accesses cannot be found, or null. */
  readonly obstacle: string | null;
  /** What addresses of stores and atomic operations are computed from. */
  readonly written: readonly PointerRoot[];
  readonly #code: WatchedCode;
  readonly #roots: PointerRoots;
  readonly #isGlobal: IsGlobal;
  readonly #loaded = new Map<string, Expr>();
  #end: number;

  /** `planes`: those of global memory that the kernel uses. */
  constructor(ir: IrFunction, code: WatchedCode, planes: readonly Plane[], isGlobal: IsGlobal) {
    this.#code = code;
    this.#roots = new PointerRoots(ir);
    this.#isGlobal = isGlobal;
    this.#end = Math.ceil(paramBytesOf(ir) / 8) * 8;
    this.#load("alarm", 8, (offset) => ({ kind: "alarm", offset }));
    this.written = this.#writtenIn(ir);
    this.obstacle = planes.length === 0 ? null : this.#declare(ir, planes);
  }

  /** The address of the word that says whether there may be anything to report. */
  get alarm(): Expr {
    return this.#loaded.get("alarm")!;
  }

  /** The number of the launch's first thread, less one. */
  get firstNumber(): Expr {
    return this.#loaded.get("first")!;
  }

  /** What is added to an address, scaled, to find the word of a plane. */
  planeFor(plane: Plane, address: Expr): Expr {
    const roots = this.#rootsOf(address);
    const [last, ...others] = roots.map((root) => this.#planeOf(root, plane)).reverse();
    const rest = [...roots].reverse().slice(1);
    return others.reduce((found, at, i) => k.select(this.#isIn(rest[i]!, address), at, found), last!);
  }

  /** The kernel with these parameters. */
  addedTo(ir: IrFunction): IrFunction {
    const added = this.list.map(({ kind, offset }): Param => {
      const size = kind === "firstNumber" ? 4 : 8;
      return {
        name: `watch ${offset}`,
        type: { kind: "u", size, align: size, unsized: false },
        storage: { kind: "kernel", offset },
      };
    });
    return { ...ir, params: [...ir.params, ...added] };
  }

  #writtenIn({ instructions }: IrFunction): readonly PointerRoot[] {
    const found = new Map<string, PointerRoot>();
    for (const { op } of instructions) {
      for (const { effect, access, place } of accessesOf(op)) {
        if (effect === "load" || !isGlobalAccess(access) || place.kind !== "address") continue;
        for (const root of this.#rootsOf(place.address)) found.set(rootKey(root), root);
      }
    }
    return [...found.values()];
  }

  #declare({ instructions }: IrFunction, planes: readonly Plane[]): string | null {
    this.#load("first", 4, (offset) => ({ kind: "firstNumber", offset }));
    for (const { op } of instructions) {
      for (const { access, place } of accessesOf(op)) {
        if (!isGlobalAccess(access) || place.kind !== "address") continue;
        const roots = this.#rootsOf(place.address);
        if (roots.length === 0) return "pointers that come from memory";
        if (roots.length > maxRoots) return "pointers into many allocations";
        for (const root of roots) this.#declareRoot(root, planes, roots.length > 1);
      }
    }
    return null;
  }

  #declareRoot(root: PointerRoot, planes: readonly Plane[], isOneOfSeveral: boolean): void {
    const key = rootKey(root);
    for (const plane of planes) this.#load(`${plane} ${key}`, 8, (offset) => ({ kind: "plane", offset, root, plane }));
    if (!isOneOfSeveral) return;
    for (const kind of ["start", "bytes"] as const)
      this.#load(`${kind} ${key}`, 8, (offset) => ({ kind, offset, root }));
  }

  #rootsOf(address: Expr): readonly PointerRoot[] {
    return this.#roots.of(address).filter((root) => root.kind === "param" || this.#isGlobal(root.name));
  }

  #planeOf(root: PointerRoot, plane: Plane): Expr {
    return this.#loaded.get(`${plane} ${rootKey(root)}`)!;
  }

  #isIn(root: PointerRoot, address: Expr): Expr {
    const [start, bytes] = (["start", "bytes"] as const).map((kind) => this.#loaded.get(`${kind} ${rootKey(root)}`)!);
    return k.lt(k.sub(address, start!), bytes!, false);
  }

  #load(key: string, size: 4 | 8, param: (offset: number) => HiddenParam): void {
    if (this.#loaded.has(key)) return;
    const register = this.#code.register(size === 4 ? "b32" : "b64");
    const address = k.i64(BigInt(windows["kernel-param"].start + this.#end));
    const access = plainAccess("kernel-param", size === 4 ? 32 : 64);
    this.#code.add({ kind: "load", access, place: atAddress(address) }, [register]);
    this.#loaded.set(key, register);
    this.list.push(param(this.#end));
    this.#end += 8;
  }
}
