import { type Access, windows } from "../../../ir/index.ts";
import { type Extent, nearestExtent } from "../../../machine/memory/extent.ts";
import { type FunctionWriter, type Wasm, wasm, type WasmTy } from "../../../wasm/index.ts";
import { recordBytes } from "../../abi/context-layout.ts";
import type { AccessGroup } from "../analysis/access/access-groups.ts";
import { UnderlyingObjects, type UnderlyingObject } from "../analysis/values/underlying-object.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { i64, low, minus, plus } from "../lanes/scalar.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { KnownObject, ExpectedObject } from "./bounds-check.ts";

type FrameLeaf = Extract<UnderlyingObject, { kind: "frame" }>["leaf"];

/** Where the variables of a function's frame are. */
export interface FrameObjects {
  reachOf(variable: number, generic: boolean): KnownObject;
}

/** Allocations begin at multiples of this. */
const allocationAlign = 256;

/** What the accesses of a function will probably find: the variable or allocation in which their addresses begin. */
export class ExpectedObjects {
  readonly #unit: ModuleUnit;
  readonly #writer: FunctionWriter;
  readonly #origins: UnderlyingObjects;
  readonly #frame: FrameObjects | null;
  /** The byte where the context begins. */
  readonly #context: Wasm;
  /** The kernel's parameters, as addresses. */
  readonly #params: readonly Extent[];
  /** By the offset of a pointer among the parameters. */
  readonly #roots = new Map<number, { readonly reach: KnownObject; readonly ahead: Wasm }>();
  /** What is computed when the function begins, in this order. */
  readonly #beginning: { readonly local: number; readonly write: () => void }[] = [];
  readonly #kept = new Map<string, Wasm>();
  #hasBegun = false;

  /** `context`: the local with the byte where the context begins. */
  constructor(
    unit: ModuleUnit,
    writer: FunctionWriter,
    analysis: UniformityAnalysis,
    context: number,
    frame: FrameObjects | null = null,
  ) {
    this.#unit = unit;
    this.#writer = writer;
    this.#origins = new UnderlyingObjects(analysis, unit.roots);
    this.#frame = frame;
    this.#context = wasm.local("i32", context);
    const { start } = windows["kernel-param"];
    this.#params = analysis.code.ir.params.flatMap(({ name, storage, type }) =>
      storage.kind === "kernel"
        ? [{ name, start: start + storage.offset, end: start + storage.offset + type.size }]
        : [],
    );
  }

  /** Writes what the targets that have been asked for need: where the function begins. */
  begin(): void {
    this.#hasBegun = true;
    for (const { local, write } of this.#beginning) {
      write();
      this.#writer.set(local);
    }
  }

  /** What accesses probably find; null where nothing is known of it. */
  of({
    access: { space },
    writes,
    address,
  }: Pick<AccessGroup, "access" | "writes" | "address">): ExpectedObject | null {
    const origin = this.#origins.of(address.base, address.offset);
    if (origin === null) return null;
    const { root, distance } = origin;
    switch (root.kind) {
      case "param": {
        if (space !== "global" && space !== "generic") return null;
        const { reach, ahead } = this.#root(root.offset);
        return { reach, ahead: distance === null ? null : plus(ahead, i64(distance)) };
      }
      case "frame":
        return this.#inFrame(root.leaf, distance);
      case "constant": {
        for (const address of root.addresses) {
          const reach = this.#variableAt(space, address, writes);
          if (reach !== null) return { reach, ahead: distance === null ? null : minus(i64(distance), reach.from) };
        }
        return null;
      }
    }
  }

  /** The launcher's record of what an instruction has found last, loaded into locals, which are to be given back. */
  recorded(record: number): { readonly reach: KnownObject; readonly locals: readonly number[] } {
    const w = this.#writer;
    const at = this.recordAt(record);
    const locals = objectWords.map((part) => {
      this.#load(part, at);
      const local = w.local(part.ty);
      w.set(local);
      return local;
    });
    const [from, bytes, delta] = objectWords.map(({ ty }, i) => wasm.local(ty, locals[i]!)) as [Wasm, Wasm, Wasm];
    return { reach: { from, bytes, delta }, locals };
  }

  /** Where a record lies in the context. */
  recordAt(record: number): number {
    return this.#unit.layout.sites + record * recordBytes;
  }

  /** What a pointer among the parameters points into, and how far. */
  #root(offset: number): { readonly reach: KnownObject; readonly ahead: Wasm } {
    const known = this.#roots.get(offset);
    if (known !== undefined) return known;
    const { layout, roots, facts } = this.#unit;
    const at = layout.roots + roots.indexOf(offset) * recordBytes;
    const [from, bytes, delta] = objectWords.map((part) =>
      this.#keep(`root ${offset} ${part.at}`, part.ty, () => this.#load(part, at)),
    ) as [Wasm, Wasm, Wasm];
    const pointer = this.#keep(`pointer ${offset}`, "i64", () => {
      this.#writer.value(this.#context);
      this.#writer.memory(facts.addressSize === 64 ? "i64.load" : "i64.load32_u", 4, layout.params + offset);
    });
    const once = (value: Wasm): Wasm => this.#once(value);
    const root = {
      reach: { from, bytes, delta, align: allocationAlign, once },
      ahead: once(minus(pointer, from)),
    };
    this.#roots.set(offset, root);
    return root;
  }

  #inFrame({ variable, offset, generic }: FrameLeaf, distance: number | null): ExpectedObject | null {
    const reach = this.#frame?.reachOf(variable, generic);
    return reach === undefined ? null : { reach, ahead: distance === null ? null : i64(offset + distance) };
  }

  /** The variable of the program around an address, or next to it; where it is to be written, one that can be. */
  #variableAt(space: Access["space"], address: number, writes: boolean): KnownObject | null {
    const { facts, layout } = this.#unit;
    const window = space === "generic" ? Number(facts.bindings.window) : 0;
    const within = address - window;
    const isIn = (name: keyof typeof windows): boolean => within >= windows[name].from && within < windows[name].end;
    const wanted = (name: typeof space): boolean => space === name || space === "generic";
    if (wanted("shared") && isIn("shared")) {
      const dynamic = windows.shared.start + facts.sharedBytes;
      const delta = plus(this.#context, wasm.i32(layout.shared - windows.shared.start));
      if (within >= dynamic) return { from: i64(dynamic + window), bytes: this.#dynamicBytes, delta };
      return variableObject(facts.shared, within, window, delta);
    }
    if (!writes && wanted("const") && isIn("const")) {
      return variableObject(facts.constants.extents, within, window, wasm.i32(facts.constants.delta));
    }
    if (!writes && wanted("kernel-param") && isIn("kernel-param")) {
      const delta = plus(this.#context, wasm.i32(layout.params - windows["kernel-param"].start));
      return variableObject(this.#params, within, window, delta);
    }
    if (!wanted("global")) return null;
    const found = facts.globals.extents.find((e) => address >= e.start && address < e.end);
    return found === undefined ? null : variableObject([found], address, 0, wasm.i32(facts.globals.delta));
  }

  get #dynamicBytes(): Wasm {
    return this.#keep("dynamic shared", "i64", () => {
      this.#writer.value(this.#context);
      this.#writer.memory("i64.load32_u", 4, this.#unit.layout.words.dynamic_smem_size);
    });
  }

  /** A value that follows from what is kept. */
  #once(value: Wasm): Wasm {
    if (value.kind === "const" || value.kind === "local") return value;
    const key = JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part));
    // Of accesses of fewer lanes nothing is known beforehand.
    if (this.#hasBegun && !this.#kept.has(key)) return value;
    return this.#keep(key, value.ty, () => this.#writer.value(value));
  }

  /** The local with what is computed when the function begins. */
  #keep(key: string, ty: WasmTy, write: () => void): Wasm {
    let value = this.#kept.get(key);
    if (value === undefined) {
      if (this.#hasBegun) throw new Error("too late for what is computed when the function begins");
      const local = this.#writer.local(ty);
      this.#beginning.push({ local, write });
      this.#kept.set(key, (value = wasm.local(ty, local)));
    }
    return value;
  }

  #load({ op, at, align }: (typeof objectWords)[number], from: number): void {
    this.#writer.value(this.#context);
    this.#writer.memory(op, align, from + at);
  }
}

/** How the launcher writes a reach. */
const objectWords = [
  { op: "i64.load", ty: "i64", at: 0, align: 8 },
  { op: "i64.load32_u", ty: "i64", at: 8, align: 4 },
  { op: "i32.load", ty: "i32", at: 12, align: 4 },
] as const;

function variableObject(extents: readonly Extent[], address: number, window: number, delta: Wasm): KnownObject | null {
  const found = nearestExtent(extents, address);
  if (found === null) return null;
  const from = found.start + window;
  // The lowest bit that is set.
  const align = Number(BigInt(from) & -BigInt(from));
  return { from: i64(from), bytes: i64(found.end - found.start), delta: minus(delta, low(i64(window))), align };
}
