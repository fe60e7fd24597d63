import { windows } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type FunctionWriter, type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { callEntry } from "../../abi/context-layout.ts";
import { widenMask } from "../lanes/value.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost, giveUp, giveUpIf, importHost } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { hostStackBytes } from "../plan/activation-size.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { KnownObject } from "./known-object.ts";

type FrameLeaf = Extract<Expr, { kind: "frame" }>;

const add = (a: Wasm, b: number): Wasm =>
  b === 0 ? a : a.kind === "const" && a.ty === "i32" ? wasm.i32(a.value + b) : wasm.op("i32.add", a, wasm.i32(b));

const clearName = "frame:clear";
const clearSomeName = "frame:clear-some";
const copyName = "frame:copy";
const moveName = "frame:move";

/** The variables of an activation that lie in memory, in the stacks of its lanes. */
export class Frame {
  /** Offsets in a lane's stack: the start of the frame, and its end. */
  readonly base: Wasm;
  top: Wasm;
  readonly #unit: ModuleUnit;
  readonly #writer: FunctionWriter;
  readonly #compiled: CompiledFunction;
  /** Local: the byte of memory where the first lane's stack begins. */
  readonly #stack: number;
  /** The size in bytes of the unsized parameter. */
  readonly #unsized: Wasm;
  /**
   * If stacks are checked: the bytes that the stacks of the lanes have cost so far, and those left of the host's stack.
   */
  cost: Wasm;
  room: Wasm;

  /** `entry`: the local with the call's entry in the shadow stack; null for the kernel, whose frame is the first. */
  constructor(unit: ModuleUnit, writer: FunctionWriter, compiled: CompiledFunction, entry: number | null) {
    this.#unit = unit;
    this.#writer = writer;
    this.#compiled = compiled;
    this.#stack = writer.local("i32");
    const { size, align, unsized } = compiled.code.frame;
    this.#unsized = wasm.i32(0);
    this.cost = wasm.i32(unit.stacks.costOf(compiled));
    this.room = wasm.i32(hostStackBytes);
    if (entry === null || !unit.stacks.isFramed(compiled)) {
      this.base = wasm.i32(0);
      this.top = wasm.i32(size);
      return;
    }
    const word = (offset: number): Wasm => {
      const local = writer.local("i32");
      writer.get(entry);
      writer.memory("i32.load", 4, offset);
      writer.set(local);
      return wasm.local("i32", local);
    };
    const below = word(callEntry.top);
    const base = writer.local("i32");
    writer.assign([
      { local: base, value: wasm.op("i32.and", wasm.op("i32.add", below, wasm.i32(align - 1)), wasm.i32(-align)) },
    ]);
    this.base = wasm.local("i32", base);
    if (unsized < 0) {
      this.top = add(this.base, size);
      return;
    }
    this.#unsized = word(callEntry.unsized);
    const room = wasm.op("i32.and", add(this.#unsized, 15), wasm.i32(-16));
    this.top = wasm.op("i32.add", add(this.base, size), room);
  }

  /**
   * Enters an activation if there is room in the stacks of its lanes and in the host's, of which it takes `bytes`.
   * `lanes`: their bits.
   */
  enter(entry: number, context: number, bytes: number, lanes: Wasm): void {
    const w = this.#writer;
    const { module, layout, stacks } = this.#unit;
    const [cost, room] = [w.local("i32"), w.local("i32")];
    const own = wasm.op("i32.add", this.cost, this.#unsized);
    for (const [local, offset] of [
      [cost, callEntry.cost],
      [room, callEntry.room],
    ] as const) {
      w.get(entry);
      w.memory("i32.load", 4, offset);
      w.set(local);
    }
    w.assign([
      { local: cost, value: wasm.op("i32.add", wasm.local("i32", cost), own) },
      { local: room, value: wasm.op("i32.sub", wasm.local("i32", room), wasm.i32(bytes)) },
    ]);
    this.cost = wasm.local("i32", cost);
    this.room = wasm.local("i32", room);
    if (stacks.isExplained) importHost(module, "stackOverflow");
    w.value(wasm.op("i32.gt_u", this.cost, wasm.i32(stacks.limit)));
    w.if(() => {
      if (!stacks.isExplained) {
        giveUp(module, w, "fullStacks");
        return;
      }
      w.get(context);
      w.get(entry);
      w.memory("i32.store", 4, layout.words.entry);
      w.values([wasm.local("i32", context), lanes]);
      callHost(w, "stackOverflow");
    });
    const isHostFull = wasm.op("i32.lt_s", this.room, wasm.i32(0));
    const isFull = wasm.op("i32.gt_u", this.top, wasm.i32(stacks.staging));
    giveUpIf(module, w, isHostFull, "deepCalls");
    if (stacks.isScarce) giveUpIf(module, w, isFull, "fullStacks");
  }

  /** Enters an activation without variables in the lanes' stacks. */
  enterHost(entry: number, bytes: number): void {
    const w = this.#writer;
    const room = w.local("i32");
    w.get(entry);
    w.memory("i32.load", 4, callEntry.room);
    w.set(room);
    this.room = wasm.local("i32", room);
    w.assign([{ local: room, value: wasm.op("i32.sub", this.room, wasm.i32(bytes)) }]);
    giveUpIf(this.#unit.module, w, wasm.op("i32.lt_s", this.room, wasm.i32(0)), "deepCalls");
  }

  /** Opens the stacks for dynamic allocation: from here on `top` and `cost` can change. */
  open(context: FunctionContext): void {
    const w = this.#writer;
    const [top, cost] = [w.local("i32"), w.local("i32")];
    w.assign([
      { local: top, value: this.top },
      { local: cost, value: this.cost },
    ]);
    this.top = wasm.local("i32", top);
    this.cost = wasm.local("i32", cost);
    importHost(this.#unit.module, "openStack");
    storeEntry(w, context);
    w.get(context.context);
    callHost(w, "openStack");
  }

  /** Reloads `top` and `cost` after an allocation, as the launcher has left them. */
  reload({ context, layout }: FunctionContext): void {
    const w = this.#writer;
    for (const [value, at] of [
      [this.top, layout.words.stackTop],
      [this.cost, layout.words.stackCost],
    ] as const) {
      if (value.kind !== "local") throw new Error("the stack has not been opened");
      w.get(context);
      w.memory("i32.load", 4, at);
      w.set(value.local);
    }
  }

  /** Takes the byte where the first lane's stack begins from the wasm stack. */
  place(): void {
    this.#writer.set(this.#stack);
  }

  pushStart(): void {
    this.#writer.get(this.#stack);
  }

  /** Clears the variables of an activation, in the lanes of some bits or (null) in all. */
  clear(lanes: Wasm | null): void {
    const { offsets, extents, unsized, size } = this.#compiled.code.frame;
    const { ir } = this.#compiled;
    const used = [...this.#unit.stacks.variablesOf(this.#compiled)];
    const ends = used.flatMap((v) => (v === unsized ? [] : [offsets[v]! + ir.frame[v]!.size]));
    if (extents.length === 0 || ends.length === 0) return;
    const start = Math.floor(Math.min(...used.map((v) => offsets[v]!)) / 16) * 16;
    const end = Math.min(size, Math.ceil(Math.max(...ends) / 16) * 16);
    const at = wasm.op("i32.add", this.#stackStart, add(this.base, start));
    this.#writer.values([at, wasm.i32(end - start), ...(lanes === null ? [] : [lanes])]);
    this.#writer.call(lanes === null ? clearName : clearSomeName);
  }

  /** Copies what the first lane's stack begins with to all lanes. */
  spread(bytes: number): void {
    const { stride } = this.#unit.stacks;
    this.#writer.values([this.#stackStart, wasm.i32(0), this.#stackStart, wasm.i32(stride), wasm.i32(bytes)]);
    this.#writer.call(moveName);
  }

  /** The offset of a variable in a lane's stack. */
  offsetOf(variable: number, at = 0): Wasm {
    return add(this.base, this.#compiled.code.frame.offsets[variable]! + at);
  }

  /** Copies bytes within the stacks of some lanes (bits). */
  copy(from: Wasm, to: Wasm, bytes: Wasm, lanes: Wasm): void {
    this.#writer.values([
      wasm.op("i32.add", this.#stackStart, from),
      wasm.op("i32.add", this.#stackStart, to),
      bytes,
      lanes,
    ]);
    this.#writer.call(copyName);
  }

  /** Loads a value of each lane, at an offset in its stack, into new locals. */
  load(at: Wasm, c: "b32" | "b64", quads: number): readonly number[] {
    const w = this.#writer;
    const wide = c === "b64";
    const start = this.#startLocal(at);
    const parts = Array.from({ length: wide ? 2 * quads : quads }, () => w.local("v128"));
    this.#eachLane(parts, wide, (part, lane, offset) => {
      w.get(start);
      if (lane === 0) w.memory(wide ? "v128.load64_zero" : "v128.load32_zero", 4, offset);
      else {
        w.get(part);
        w.memory(wide ? "v128.load64_lane" : "v128.load32_lane", 4, offset, lane);
      }
      w.set(part);
    });
    w.release(start);
    return parts;
  }

  /** Stores a value of each lane in a mask (null: all) at an offset in its stack. */
  store(at: Wasm, values: readonly Wasm[], c: "b32" | "b64", mask: readonly Wasm[] | null): void {
    const w = this.#writer;
    const wide = c === "b64";
    const old = mask === null ? [] : this.load(at, c, mask.length);
    const parts =
      mask === null
        ? values
        : values.map((value, i) => {
            const lanes = wide ? widenMask(mask[i >> 1]!)[i & 1]! : mask[i]!;
            return wasm.blend(lanes, value, wasm.local("v128", old[i]!));
          });
    const start = this.#startLocal(at);
    const locals = parts.map(() => w.local("v128"));
    w.assign(parts.map((value, i) => ({ local: locals[i]!, value })));
    this.#eachLane(locals, wide, (part, lane, offset) => {
      w.get(start);
      w.get(part);
      w.memory(wide ? "v128.store64_lane" : "v128.store32_lane", 4, offset, lane);
    });
    for (const local of [start, ...locals, ...old]) w.release(local);
  }

  #startLocal(at: Wasm): number {
    const start = this.#writer.local("i32");
    this.#writer.assign([{ local: start, value: wasm.op("i32.add", this.#stackStart, at) }]);
    return start;
  }

  #eachLane(parts: readonly number[], wide: boolean, each: (part: number, lane: number, offset: number) => void): void {
    const perPart = wide ? 2 : 4;
    for (const [i, part] of parts.entries()) {
      for (let lane = 0; lane < perPart; lane++) each(part, lane, (i * perPart + lane) * this.#unit.stacks.stride);
    }
  }

  /** The offset in the stacks where values may lie for the duration of a call. */
  staging(bytes: number): Wasm {
    return wasm.i32(this.#unit.stacks.staging + bytes);
  }

  /** The size of a variable that is as large as its argument. */
  get unsizedBytes(): Wasm {
    return this.#unsized;
  }

  get #stackStart(): Wasm {
    return wasm.local("i32", this.#stack);
  }

  /** The address of a byte in the frame. */
  address({ ty, variable, offset, generic }: FrameLeaf): Wasm {
    const low = add(this.offsetOf(variable), windows.local.start + offset);
    if (ty === "i32") return low;
    const wide =
      low.kind === "const" && low.ty === "i32" ? wasm.i64(BigInt(low.value >>> 0)) : wasm.op("i64.extend_i32_u", low);
    return generic ? wasm.op("i64.add", wide, wasm.i64(this.#unit.facts.bindings.window)) : wide;
  }

  /** A variable as an object. */
  objectOf(variable: number, generic: boolean): KnownObject {
    const { size, unsized } = this.#compiled.ir.frame[variable]!;
    return {
      from: this.address({ kind: "frame", ty: "i64", variable, offset: 0, generic }),
      bytes: unsized ? wasm.op("i64.extend_i32_u", this.#unsized) : wasm.i64(BigInt(size)),
      delta: wasm.op("i32.sub", this.#stackStart, wasm.i32(windows.local.start)),
      // Where all lanes have the same, they find it in the first one's.
      ...(this.#compiled.ir.frameImage === undefined ? { lane: this.#unit.stacks.stride } : {}),
    };
  }

  /** The size of the frame in bytes. */
  get size(): number {
    return this.#compiled.code.frame.size;
  }

  /** Copies the frames of all lanes to contiguous bytes of memory, or back from there. */
  move(at: Wasm, way: "away" | "back"): void {
    const frames = [wasm.op("i32.add", this.#stackStart, this.base), wasm.i32(this.#unit.stacks.stride)];
    const others = [at, wasm.i32(this.size)];
    const [from, to] = way === "away" ? [frames, others] : [others, frames];
    this.#writer.values([...from, ...to, wasm.i32(this.size)]);
    this.#writer.call(moveName);
  }
}

/** The size up to which a loop over words is faster than the engine's own fill. */
const shortBytes = 128;

/**
 * Defines `clear(at, bytes)` (`bytes` a multiple of 16) and `copy(from, to, bytes, lanes)`, at bytes of memory of the
 * first lane; each further lane's are `stride` bytes on. `move(from, stride, to, stride, bytes)` copies between two
 * such places in all lanes. `clearsSome`: whether `clear-some` is needed, too.
 */
export function frameFunctions(m: ModuleWriter, lanes: number, stride: number, clearsSome: boolean): void {
  if (clearsSome) clearSomeFunction(m, stride);
  const clear = m.function(clearName, ["i32", "i32"], []);
  const [at, bytes] = [wasm.local("i32", 0), wasm.local("i32", 1)];
  const [lane, end] = [clear.local("i32"), clear.local("i32")];
  clear.assign([{ local: end, value: wasm.op("i32.add", at, wasm.i32(lanes * stride)) }]);
  clear.loop((next) => {
    clear.value(wasm.op("i32.gt_u", bytes, wasm.i32(shortBytes)));
    clear.if(
      () => {
        clear.values([at, wasm.i32(0), bytes]);
        clear.memoryFill();
      },
      () => {
        clear.assign([{ local: lane, value: wasm.i32(0) }]);
        clear.loop((word) => {
          clear.values([wasm.op("i32.add", at, wasm.local("i32", lane)), wasm.i32x4(0)]);
          clear.memory("v128.store", 16);
          clear.assign([{ local: lane, value: wasm.op("i32.add", wasm.local("i32", lane), wasm.i32(16)) }]);
          clear.value(wasm.op("i32.lt_u", wasm.local("i32", lane), bytes));
          clear.brIf(word);
        });
      },
    );
    clear.assign([{ local: 0, value: wasm.op("i32.add", at, wasm.i32(stride)) }]);
    clear.value(wasm.op("i32.lt_u", at, wasm.local("i32", end)));
    clear.brIf(next);
  });

  const move = m.function(moveName, ["i32", "i32", "i32", "i32", "i32"], []);
  const count = move.local("i32");
  const sum = (a: number, b: number): Wasm => wasm.op("i32.add", wasm.local("i32", a), wasm.local("i32", b));
  move.loop((next) => {
    move.values([2, 0, 4].map((l) => wasm.local("i32", l)));
    move.memoryCopy();
    move.assign([
      { local: 0, value: sum(0, 1) },
      { local: 2, value: sum(2, 3) },
      { local: count, value: wasm.op("i32.add", wasm.local("i32", count), wasm.i32(1)) },
    ]);
    move.value(wasm.op("i32.lt_u", wasm.local("i32", count), wasm.i32(lanes)));
    move.brIf(next);
  });

  const copy = m.function(copyName, ["i32", "i32", "i32", "i32"], []);
  const local = (index: number): Wasm => wasm.local("i32", index);
  copy.loop((next) => {
    copy.value(wasm.op("i32.and", local(3), wasm.i32(1)));
    copy.if(() => {
      copy.values([local(1), local(0), local(2)]);
      copy.memoryCopy();
    });
    copy.assign([
      { local: 0, value: wasm.op("i32.add", local(0), wasm.i32(stride)) },
      { local: 1, value: wasm.op("i32.add", local(1), wasm.i32(stride)) },
      { local: 3, value: wasm.op("i32.shr_u", local(3), wasm.i32(1)) },
    ]);
    copy.get(3);
    copy.brIf(next);
  });
}

/** Defines `clear-some(at, bytes, lanes)`: `clear` for some lanes (bits). */
function clearSomeFunction(m: ModuleWriter, stride: number): void {
  const w = m.function(clearSomeName, ["i32", "i32", "i32"], []);
  const [at, bytes] = [wasm.local("i32", 0), wasm.local("i32", 1)];
  w.loop((next) => {
    w.value(wasm.op("i32.and", wasm.local("i32", 2), wasm.i32(1)));
    w.if(() => {
      w.values([at, wasm.i32(0), bytes]);
      w.memoryFill();
    });
    w.assign([
      { local: 0, value: wasm.op("i32.add", at, wasm.i32(stride)) },
      { local: 2, value: wasm.op("i32.shr_u", wasm.local("i32", 2), wasm.i32(1)) },
    ]);
    w.get(2);
    w.brIf(next);
  });
}
