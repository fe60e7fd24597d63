import { type Access, type AddressedSurface, windows } from "../../../ir/index.ts";
import { type Extent, nearestExtent } from "../../../machine/memory/extent.ts";
import { type FunctionWriter, type Wasm, wasm, type WasmTy } from "../../../wasm/index.ts";
import { recordBytes } from "../../abi/context-layout.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { AccessGroup, VariableNear } from "../analysis/access/access-groups.ts";
import {
  type AddressBase,
  maxCandidates,
  type UnderlyingObject,
  UnderlyingObjects,
} from "../analysis/values/underlying-object.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { i64, low, minus, plus } from "../lanes/scalar.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { ExpectedObject } from "./bounds-check.ts";
import type { KnownObject } from "./known-object.ts";

type ExpectedBy = Pick<AccessGroup, "access" | "writes" | "surface" | "address">;

type FrameLeaf = Extract<UnderlyingObject, { kind: "frame" }>["leaf"];

/** The variables of a function's frame as objects. */
export interface FrameObjects {
  objectOf(variable: number, generic: boolean): KnownObject;
}

/** An object of which a record says where it is, and the locals into which that has been loaded. */
interface RecordedObject {
  readonly object: KnownObject;
  readonly locals: readonly number[];
}

/** The alignment of allocations. */
const allocationAlign = 256;

/**
 * The objects that the accesses of a function are expected to find: the variable or allocation in which the base of
 * their address lies.
 */
export class ExpectedObjects {
  readonly #unit: ModuleUnit;
  readonly #writer: FunctionWriter;
  readonly #underlying: UnderlyingObjects;
  readonly #frame: FrameObjects | null;
  /** The byte of memory where the context begins. */
  readonly #context: Wasm;
  /** The kernel's parameters, as extents of addresses. */
  readonly #params: readonly Extent[];
  /** Objects that pointer parameters point into, by the parameter's offset. */
  readonly #roots = new Map<number, { readonly object: KnownObject; readonly baseDistance: Wasm }>();
  /** Values that are computed where the function begins, in this order. */
  readonly #beginning: { readonly local: number; readonly write: () => void }[] = [];
  readonly #kept = new Map<string, Wasm>();
  /** By register, the constant from which it is computed. */
  readonly #starts = new Map<number, number | null>();
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
    this.#underlying = new UnderlyingObjects(analysis, unit.roots);
    this.#frame = frame;
    this.#context = wasm.local("i32", context);
    const { start } = windows["kernel-param"];
    this.#params = unit.graph.functions[0]!.ir.params.flatMap(({ name, storage, type }) =>
      storage.kind === "kernel"
        ? [{ name, start: start + storage.offset, end: start + storage.offset + type.size }]
        : [],
    );
  }

  /**
   * Writes the computation of all values asked for so far, where the function begins. None can be asked for after that.
   */
  begin(): void {
    this.#hasBegun = true;
    for (const { local, write } of this.#beginning) {
      write();
      this.#writer.set(local);
    }
  }

  /**
   * The objects that accesses are expected to find, the likeliest first; none if nothing is known. What makes an
   * address a byte of memory is the same for all of them.
   */
  of({ access, writes, surface, address }: ExpectedBy): readonly ExpectedObject[] {
    const underlying = this.#underlying.of(address.base, address.offset);
    if (surface !== null) return this.#surface(surface, underlying);
    const found = underlying.flatMap((one) => this.#expected(access, writes, one));
    const [first, ...others] = found;
    // Copies of each lane are found by one check; candidates of different kinds lie in different memories.
    if (first === undefined || first.object.lane !== undefined) return found.slice(0, 1);
    const memory = memoryOf(first.object);
    return [first, ...others.filter(({ object }) => object.lane === undefined && memoryOf(object) === memory)];
  }

  /** The surface alone: whatever else is at an address is none of it. */
  #surface({ param }: AddressedSurface, underlying: readonly AddressBase[]): readonly ExpectedObject[] {
    if (!this.#unit.roots.includes(param)) return [];
    const { object, baseDistance } = this.#root(param);
    const found = underlying.find(({ root }) => root.kind === "param" && root.offset === param);
    const distance = found?.distance ?? null;
    return [{ object, baseDistance: distance === null ? null : plus(baseDistance, i64(distance)) }];
  }

  #expected({ space }: Access, writes: boolean, { root, distance }: AddressBase): readonly ExpectedObject[] {
    switch (root.kind) {
      case "param": {
        if (space !== "global" && space !== "generic") return [];
        const { object, baseDistance } = this.#root(root.offset);
        return [{ object, baseDistance: distance === null ? null : plus(baseDistance, i64(distance)) }];
      }
      case "frame": {
        const found = this.#inFrame(root.leaf, distance);
        return found === null ? [] : [found];
      }
      case "constant": {
        const found = new Map<string, KnownObject>();
        for (const address of root.addresses) {
          const object = this.#variableAt(space, address, writes);
          if (object !== null) found.set(textOf(object.from), object);
        }
        return [...found.values()].slice(0, maxCandidates).map((object) => ({
          object,
          baseDistance: distance === null ? null : minus(i64(distance), object.from),
        }));
      }
    }
  }

  /** The variable whose address is the constant part of an address, or is nearest to it; null if that is none. */
  readonly variableNear: VariableNear = (space, { base, offset }) => {
    const start = this.#startOf(base);
    const object =
      (start === null ? null : this.#variableAt(space, start + offset, false)) ??
      (offset === 0 ? null : this.#variableAt(space, offset, false));
    return object === null ? null : textOf(object.from);
  };

  /** The constant from which the base of an address is probably computed; null if none is known. */
  #startOf(base: Expr): number | null {
    if (base.kind !== "reg") return null;
    let start = this.#starts.get(base.reg);
    if (start === undefined) {
      const [first] = this.#underlying.of(base, 0);
      start = first?.root.kind === "constant" ? (first.root.addresses[0] ?? null) : null;
      this.#starts.set(base.reg, start);
    }
    return start;
  }

  /**
   * The launcher's record of the object that an instruction found last, loaded into locals, which the caller releases.
   */
  recorded(record: number): RecordedObject {
    return this.#recorded(this.recordAt(record), objectWords);
  }

  /** The same for the variable in the lanes' stacks. */
  recordedInStacks(record: number): RecordedObject {
    const { layout, stacks } = this.#unit;
    const found = this.#recorded(layout.stackSites + record * recordBytes, objectWords.slice(0, 2));
    const w = this.#writer;
    const start = w.local("i32");
    w.value(this.#context);
    w.memory("i32.load", 4, layout.words.stacks);
    w.set(start);
    const delta = wasm.op("i32.sub", wasm.local("i32", start), wasm.i32(windows.local.start));
    return { object: { ...found.object, delta, lane: stacks.stride }, locals: [...found.locals, start] };
  }

  #recorded(at: number, words: readonly ObjectWord[]): RecordedObject {
    const w = this.#writer;
    const locals = words.map((part) => {
      this.#load(part, at);
      const local = w.local(part.ty);
      w.set(local);
      return local;
    });
    const [from, bytes, delta = wasm.i32(0)] = words.map(({ ty }, i) => wasm.local(ty, locals[i]!)) as [
      Wasm,
      Wasm,
      Wasm?,
    ];
    return { object: { from, bytes, delta }, locals };
  }

  /** The byte of a record within the context. */
  recordAt(record: number): number {
    return this.#unit.layout.sites + record * recordBytes;
  }

  /** The object that a pointer parameter points into, and the pointer's distance from its start. */
  #root(offset: number): { readonly object: KnownObject; readonly baseDistance: Wasm } {
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
      object: { from, bytes, delta, align: allocationAlign, once },
      baseDistance: once(minus(pointer, from)),
    };
    this.#roots.set(offset, root);
    return root;
  }

  #inFrame({ variable, offset, generic }: FrameLeaf, distance: number | null): ExpectedObject | null {
    const object = this.#frame?.objectOf(variable, generic);
    return object === undefined ? null : { object, baseDistance: distance === null ? null : i64(offset + distance) };
  }

  /** The variable at or nearest to an address; if it is written to, a writable one. */
  #variableAt(space: Access["space"], address: number, writes: boolean): KnownObject | null {
    const { facts, layout } = this.#unit;
    const window = space === "generic" ? Number(facts.bindings.window) : 0;
    const within = address - window;
    const isIn = (name: keyof typeof windows): boolean => within >= windows[name].from && within < windows[name].end;
    const wanted = (name: typeof space): boolean => space === name || space === "generic";
    if (wanted("shared") && isIn("shared")) {
      const dynamic = windows.shared.start + facts.sharedBytes;
      const delta = plus(this.#context, wasm.i32(layout.shared - windows.shared.start));
      const near = nearestExtent(facts.shared, within);
      // Compilers add what is below the beginning of an array, as in s[i - 1], to its address.
      if (within < dynamic && near !== null && within - near.end <= dynamic - within) {
        return variableObject(near, window, delta);
      }
      return { from: i64(dynamic + window), bytes: this.#dynamicBytes, delta };
    }
    if (!writes && wanted("const") && isIn("const")) {
      const near = nearestExtent(facts.constants.extents, within);
      return near === null ? null : variableObject(near, window, wasm.i32(facts.constants.delta));
    }
    if (!writes && wanted("kernel-param") && isIn("kernel-param")) {
      const delta = plus(this.#context, wasm.i32(layout.params - windows["kernel-param"].start));
      const near = nearestExtent(this.#params, within);
      return near === null ? null : variableObject(near, window, delta);
    }
    if (!wanted("global")) return null;
    const found = facts.globals.extents.find((e) => address >= e.start && address < e.end);
    return found === undefined ? null : variableObject(found, 0, wasm.i32(facts.globals.delta));
  }

  get #dynamicBytes(): Wasm {
    return this.#keep("dynamic shared", "i64", () => {
      this.#writer.value(this.#context);
      this.#writer.memory("i64.load32_u", 4, this.#unit.layout.words.dynamic_smem_size);
    });
  }

  /** A value that depends on kept values alone, made invariant. */
  #once(value: Wasm): Wasm {
    if (value.kind === "const" || value.kind === "local") return value;
    const key = textOf(value);
    // Accesses of a narrowed chunk have declared nothing.
    if (this.#hasBegun && !this.#kept.has(key)) return value;
    return this.#keep(key, value.ty, () => this.#writer.value(value));
  }

  /** The local of a value that is computed where the function begins. */
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

  #load({ op, at, align }: ObjectWord, from: number): void {
    this.#writer.value(this.#context);
    this.#writer.memory(op, align, from + at);
  }
}

/** The same text for the same value. */
function textOf(value: Wasm): string {
  switch (value.kind) {
    case "operand":
      return `operand ${value.index}`;
    case "local":
      return `${value.ty} ${value.local}`;
    case "const":
      return `${value.ty} number ${String(value.value)}`;
    case "op":
      return `${value.op} ${value.immediates.join()}${listOf(value.args)}`;
    case "call":
      return `call ${value.function.name}${listOf(value.args)}`;
    case "import":
      return `import ${value.name}${listOf(value.args)}`;
    case "select":
    case "if":
      return `${value.kind}${listOf(value.args)}`;
  }
}

const listOf = (values: readonly Wasm[]): string => `(${values.map(textOf).join()})`;

/** Tells the memories apart in which objects lie. Roots are allocations, of which `delta` is the same for all. */
const memoryOf = ({ delta, align }: KnownObject): string =>
  align === allocationAlign && delta.kind === "local" ? "allocation" : textOf(delta);

/** The words of an object as the launcher writes them. */
const objectWords = [
  { op: "i64.load", ty: "i64", at: 0, align: 8 },
  { op: "i64.load32_u", ty: "i64", at: 8, align: 4 },
  { op: "i32.load", ty: "i32", at: 12, align: 4 },
] as const;

type ObjectWord = (typeof objectWords)[number];

function variableObject({ start, end }: Extent, window: number, delta: Wasm): KnownObject {
  const from = start + window;
  // The lowest set bit.
  const align = Number(BigInt(from) & -BigInt(from));
  return { from: i64(from), bytes: i64(end - start), delta: minus(delta, low(i64(window))), align };
}
