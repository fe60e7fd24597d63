import type { Access, Instruction, Op } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type FunctionWriter, type MemoryOp, type Wasm, wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";
import { anyOf } from "./control-flow.ts";
import { canonicalNan } from "./nan.ts";
import type { ContextLayout } from "./context-layout.ts";
import { addressOf, type Checked, check, fullAddresses, type Places, type Reach } from "./reach.ts";
import { applyScalar, applyVector, type Quad, type Value, type Vector, vectorOf, widenMask } from "./value.ts";

type LoadOp = Extract<Op, { kind: "load" }>;
type StoreOp = Extract<Op, { kind: "store" }>;

/** What accesses to memory need to know of the function and of the module around it. */
export interface MemoryContext {
  /** The local that holds the beginning of the context. */
  readonly context: number;
  /** The one that holds the activation's entry in the shadow stack. */
  readonly entry: number;
  /** Whether anything lies in the lanes' stacks, where one generic address is another byte of memory for each lane. */
  readonly hasStacks: boolean;
  readonly layout: ContextLayout;
  /** What an instruction at an address most probably accesses. */
  readonly reachOf: (access: Access, address: Expr) => { readonly reach: Reach; readonly record: number | null };
  /** Whether other threads of the host run blocks of the same launch in the same memory. */
  readonly isShared: boolean;
  /** The number under which the launcher knows an instruction and the record that it keeps for it. */
  readonly siteOf: (instruction: number, record: number | null) => number;
}

/** Tells the launcher, before it is asked, which activation asks. */
export function tellEntry(w: FunctionWriter, { context, entry, layout }: MemoryContext): void {
  w.get(context);
  w.get(entry);
  w.memory("i32.store", 4, layout.words.entry);
}

/** Loads and stores. What does not lie where it is expected is looked up by the launcher, lane by lane: `translate`. */
export class Memory {
  readonly #chunk: Chunk;
  readonly #context: MemoryContext;
  /** The access that is being written, as the launcher is to know it. */
  #site: { readonly index: number; readonly record: number | null; number?: number } = { index: 0, record: null };

  constructor(chunk: Chunk, context: MemoryContext) {
    this.#chunk = chunk;
    this.#context = context;
  }

  load(block: number, index: number, { dst, guard }: Instruction, { access, address }: LoadOp): void {
    const chunk = this.#chunk;
    const guardMask = guard === null ? null : chunk.guardMask(guard);
    const mask = this.#mask(block, guardMask);
    const checked = this.#check(index, access, address, mask);
    const elements = this.#loadElements(access, address, checked, mask);
    const values = elements.map((value, e) => {
      const to = dst[e];
      return typeof to === "number" ? this.#fitted(value, access, chunk.function.registers[to]!.class) : null;
    });
    chunk.write(block, dst, values, guardMask);
    this.#releaseAll(elements);
  }

  store(block: number, index: number, { guard }: Instruction, { access, address, values }: StoreOp): void {
    const chunk = this.#chunk;
    const mask = this.#mask(block, guard === null ? null : chunk.guardMask(guard));
    const checked = this.#check(index, access, address, mask);
    const elements = values.map((v) => (v === null ? null : canonicalNan(chunk.value(v))));
    this.#storeElements(access, address, checked, mask, elements);
  }

  #mask(block: number, guard: readonly Wasm[] | null): readonly Wasm[] | null {
    const active = this.#chunk.activeMask(block);
    if (guard === null || active === null) return guard ?? active;
    return guard.map((g, q) => wasm.op("v128.and", g, active[q]!));
  }

  #check(index: number, access: Access, address: Expr, mask: readonly Wasm[] | null): Checked {
    const { reach, record } = this.#context.reachOf(access, address);
    this.#site = { index, record };
    const checked = check(this.#chunk, access, addressOf(this.#chunk, address), reach, mask);
    const { places } = checked;
    const isOne = places.kind === "one" && !(this.#context.hasStacks && access.space === "generic");
    return isOne || places.kind !== "one" ? checked : { ...checked, places: { kind: "run", at: places.at, stride: 0 } };
  }

  #loadElements(access: Access, address: Expr, { places, ok }: Checked, mask: readonly Wasm[] | null): Value[] {
    const { writer, quads } = this.#chunk;
    const bytes = access.bits / 8;
    if (places.kind === "one") {
      const at = this.#onePlace(address, places.at, ok, mask);
      const values = Array.from({ length: access.count }, (_, e): Value => {
        const ty = access.bits === 64 ? "i64" : "i32";
        const local = writer.local(ty);
        writer.get(at);
        writer.memory(scalarLoad(access), bytes, e * bytes);
        writer.set(local);
        return { kind: "uniform", ty, scalar: wasm.local(ty, local) };
      });
      writer.release(at);
      return values;
    }
    const perQuad = access.bits === 64 ? 2 : 1;
    const locals = Array.from({ length: access.count }, () =>
      Array.from({ length: quads * perQuad }, () => writer.local("v128")),
    );
    if (places.kind === "run") {
      writer.value(ok);
      writer.if(
        () => this.#loadRun(access, places.at, places.stride, locals),
        () => {
          this.#translate(address, mask);
          locals.forEach((list, e) => {
            writer.get(this.#context.context);
            writer.i32(e * bytes);
            writer.call(gatherName(access));
            list.forEach((local, part) => {
              writer.get(this.#context.context);
              writer.memory("v128.load", 16, this.#context.layout.values + part * 16);
              writer.set(local);
            });
          });
        },
      );
    } else this.#gather(access, this.#eachPlace(address, places, ok, mask), locals);
    return locals.map((list): Value => {
      const nodes = list.map((l) => wasm.local("v128", l));
      const grouped = Array.from({ length: quads }, (_, q): Quad => nodes.slice(q * perQuad, (q + 1) * perQuad));
      return { kind: "vector", ty: access.bits === 64 ? "i64" : "i32", quads: grouped };
    });
  }

  /** Lane l's elements lie at `at + l * stride`. */
  #loadRun(access: Access, at: Wasm, stride: number, locals: readonly (readonly number[])[]): void {
    const { writer, lanes } = this.#chunk;
    const bytes = access.bits / 8;
    const base = writer.local("i32");
    writer.assign([{ local: base, value: at }]);
    locals.forEach((list, e) => {
      if (stride === bytes) {
        for (const [part, local] of list.entries()) this.#loadPart(access, base, part, local);
      } else {
        const places = Array.from({ length: lanes }, (_, lane) => lane * stride + e * bytes);
        this.#loadLanes(
          access,
          (lane) => {
            writer.get(base);
            return places[lane]!;
          },
          list,
        );
      }
    });
    writer.release(base);
  }

  /** 16 bytes of a register, from elements that lie one behind the other. */
  #loadPart(access: Access, base: number, part: number, local: number): void {
    const { writer } = this.#chunk;
    writer.get(base);
    const sign = access.signed ? "s" : "u";
    if (access.bits >= 32) writer.memory("v128.load", access.bits / 8, part * 16);
    else if (access.bits === 16) writer.memory(`v128.load16x4_${sign}`, 2, part * 8);
    else {
      writer.memory("v128.load32_zero", 1, part * 4);
      writer.set(local);
      const bytes = wasm.local("v128", local);
      writer.value(wasm.op(`i32x4.extend_low_i16x8_${sign}`, wasm.op(`i16x8.extend_low_i8x16_${sign}`, bytes)));
    }
    writer.set(local);
  }

  /** Lane by lane; `place` pushes an address and returns what is to be added to it. */
  #loadLanes(access: Access, place: (lane: number) => number, list: readonly number[]): void {
    const { writer, lanes } = this.#chunk;
    for (let lane = 0; lane < lanes; lane++) {
      const wide = access.bits === 64;
      const local = list[wide ? lane >> 1 : lane >> 2]!;
      const l = wide ? lane & 1 : lane & 3;
      if (access.bits < 32) {
        writer.get(local);
        const offset = place(lane);
        writer.memory(scalarLoad(access), access.bits / 8, offset);
        writer.op("i32x4.replace_lane", l);
      } else {
        const offset = place(lane);
        if (l === 0) writer.memory(wide ? "v128.load64_zero" : "v128.load32_zero", access.bits / 8, offset);
        else {
          writer.get(local);
          writer.memory(wide ? "v128.load64_lane" : "v128.load32_lane", access.bits / 8, offset, l);
        }
      }
      writer.set(local);
    }
  }

  #gather(access: Access, places: readonly number[], locals: readonly (readonly number[])[]): void {
    const { writer } = this.#chunk;
    locals.forEach((list, e) => {
      const place = (lane: number): number => {
        writer.get(places[lane >> 2]!);
        writer.op("i32x4.extract_lane", lane & 3);
        return (e * access.bits) / 8;
      };
      this.#loadLanes(access, place, list);
    });
    for (const local of places) writer.release(local);
  }

  #storeElements(
    access: Access,
    address: Expr,
    { places, ok }: Checked,
    mask: readonly Wasm[] | null,
    elements: readonly (Value | null)[],
  ): void {
    const { writer } = this.#chunk;
    const bytes = access.bits / 8;
    if (places.kind === "one" && elements.every((v) => v === null || v.kind === "uniform")) {
      this.#storeOne(access, this.#onePlace(address, places.at, ok, mask), mask, elements);
      return;
    }
    const vectors = elements.map((v) => v && vectorOf(this.#narrowed(v, access), this.#chunk.quads));
    const [first] = vectors;
    const isRow = places.kind === "run" && places.stride === bytes && access.count === 1 && bytes >= 4;
    // What other threads of the host write between two lanes must not be written back as it was.
    const isAlone = mask === null || !this.#context.isShared || access.space === "shared";
    if (isRow && isAlone && first != null) {
      writer.value(ok);
      writer.if(
        () => this.#storeRow(access, places.at, first, mask),
        () => {
          this.#translate(address, mask);
          this.#storeEach(access, this.#foundPlaces(), vectors);
        },
      );
      return;
    }
    const parts = places.kind === "each" ? places.quads : this.#placesOf(places);
    // Lanes that do not store do so where it does no harm.
    const spare = wasm.op(
      "i32x4.splat",
      wasm.op("i32.add", wasm.local("i32", this.#context.context), wasm.i32(this.#context.layout.values)),
    );
    const quads = mask === null ? parts : parts.map((part, q) => wasm.blend(mask[q]!, part, spare));
    this.#storeEach(access, this.#eachPlace(address, { kind: "each", quads }, ok, mask), vectors);
  }

  /** The same value at the same place. */
  #storeOne(access: Access, at: number, mask: readonly Wasm[] | null, elements: readonly (Value | null)[]): void {
    const { writer } = this.#chunk;
    const bytes = access.bits / 8;
    writer.value(mask === null ? wasm.i32(1) : anyOf(mask));
    writer.if(() => {
      elements.forEach((value, e) => {
        if (value?.kind !== "uniform") return;
        writer.get(at);
        writer.value(value.scalar);
        writer.memory(scalarStore(access, value.scalar.ty), bytes, e * bytes);
      });
    });
    writer.release(at);
  }

  /** Elements one behind the other. Nobody else writes there meanwhile: what lanes do not store is stored as it was. */
  #storeRow(access: Access, at: Wasm, { quads }: Vector, mask: readonly Wasm[] | null): void {
    const { writer } = this.#chunk;
    const bytes = access.bits / 8;
    const base = writer.local("i32");
    writer.assign([{ local: base, value: at }]);
    const store = (blend: boolean): void => {
      for (const [q, quad] of quads.entries()) {
        for (const [h, part] of quad.entries()) {
          const offset = 16 * (q * quad.length + h);
          writer.get(base);
          if (blend && mask !== null) {
            const old = writer.local("v128");
            writer.get(base);
            writer.memory("v128.load", bytes, offset);
            writer.set(old);
            const lanes = quad.length === 1 ? mask[q]! : widenMask(mask[q]!)[h]!;
            writer.value(wasm.blend(lanes, part, wasm.local("v128", old)));
            writer.release(old);
          } else writer.value(part);
          writer.memory("v128.store", bytes, offset);
        }
      }
    };
    if (mask === null) store(false);
    else {
      writer.value(everyLane(mask));
      writer.if(
        () => store(false),
        () => store(true),
      );
    }
    writer.release(base);
  }

  /** Lane by lane. */
  #storeEach(access: Access, places: readonly number[], elements: readonly (Vector | null)[]): void {
    const { writer, lanes } = this.#chunk;
    const bytes = access.bits / 8;
    const wide = access.bits === 64;
    elements.forEach((vector, e) => {
      if (vector === null) return;
      const locals = vector.quads.flat().map((part) => {
        const local = writer.local("v128");
        writer.assign([{ local, value: part }]);
        return local;
      });
      for (let lane = 0; lane < lanes; lane++) {
        writer.get(places[lane >> 2]!);
        writer.op("i32x4.extract_lane", lane & 3);
        writer.get(locals[wide ? lane >> 1 : lane >> 2]!);
        writer.memory(laneStore(access), bytes, e * bytes, wide ? lane & 1 : (lane & 3) * (4 / Math.min(bytes, 4)));
      }
      for (const local of locals) writer.release(local);
    });
    for (const local of places) writer.release(local);
  }

  /** The places that the launcher has found, in locals. */
  #foundPlaces(): number[] {
    const { writer, active } = this.#chunk;
    return active.map((_, q) => {
      const local = writer.local("v128");
      writer.get(this.#context.context);
      writer.memory("v128.load", 16, this.#context.layout.places + q * 16);
      writer.set(local);
      return local;
    });
  }

  #placesOf(places: Exclude<Places, { kind: "each" }>): readonly Wasm[] {
    const stride = places.kind === "run" ? places.stride : 0;
    return vectorOf({ kind: "affine", ty: "i32", base: places.at, stride }, this.#chunk.quads).quads.flat();
  }

  /** Lets the launcher find the places of the lanes of a mask, or end the launch. */
  #translate(address: Expr, mask: readonly Wasm[] | null): void {
    const { writer } = this.#chunk;
    const { layout, context } = this.#context;
    fullAddresses(this.#chunk, address)
      .quads.flat()
      .forEach((part, i) => {
        writer.get(context);
        writer.value(part);
        writer.memory("v128.store", 16, layout.addresses + i * 16);
      });
    tellEntry(writer, this.#context);
    writer.get(context);
    const site = this.#site;
    site.number ??= this.#context.siteOf(site.index, site.record);
    writer.i32(site.number);
    writer.value(this.bitsOf(mask));
    writer.call("translate");
  }

  /** A bit for each lane of a mask. */
  bitsOf(mask: readonly Wasm[] | null): Wasm {
    const { lanes } = this.#chunk;
    if (mask === null) return wasm.i32(lanes === 32 ? -1 : 2 ** lanes - 1);
    return mask
      .map((m, q) => wasm.op("i32.shl", wasm.op("i32x4.bitmask", m), wasm.i32(4 * q)))
      .reduce((a, b) => wasm.op("i32.or", a, b));
  }

  /** The local with the place that all lanes access. */
  #onePlace(address: Expr, at: Wasm, ok: Wasm, mask: readonly Wasm[] | null): number {
    const { writer } = this.#chunk;
    const { layout, context } = this.#context;
    const place = writer.local("i32");
    const good = writer.local("i32");
    writer.assign([
      { local: place, value: at },
      { local: good, value: ok },
    ]);
    writer.get(good);
    writer.op("i32.eqz");
    writer.if(() => {
      this.#translate(address, mask);
      // The place of the first lane of the mask.
      writer.value(
        wasm.op(
          "i32.add",
          wasm.local("i32", context),
          wasm.op("i32.shl", wasm.op("i32.and", wasm.op("i32.ctz", this.bitsOf(mask)), wasm.i32(31)), wasm.i32(2)),
        ),
      );
      writer.memory("i32.load", 4, layout.places);
      writer.set(place);
    });
    writer.release(good);
    return place;
  }

  /** Locals with the places of all lanes. */
  #eachPlace(
    address: Expr,
    places: Extract<Places, { kind: "each" }>,
    ok: Wasm,
    mask: readonly Wasm[] | null,
  ): number[] {
    const { writer } = this.#chunk;
    const { layout, context } = this.#context;
    const locals = places.quads.map(() => writer.local("v128"));
    const good = writer.local("i32");
    writer.assign([...locals.map((local, q) => ({ local, value: places.quads[q]! })), { local: good, value: ok }]);
    writer.get(good);
    writer.op("i32.eqz");
    writer.if(() => {
      this.#translate(address, mask);
      locals.forEach((local, q) => {
        writer.get(context);
        writer.memory("v128.load", 16, layout.places + q * 16);
        writer.set(local);
      });
    });
    writer.release(good);
    return locals;
  }

  /** An element as a register of a class takes it. */
  #fitted(value: Value, { bits, signed }: Access, registerClass: "pred" | "b32" | "b64"): Value {
    if (registerClass === "b64" && bits < 64)
      return this.#converted(signed ? "i64.extend_i32_s" : "i64.extend_i32_u", value);
    return registerClass === "b32" ? this.#narrowed(value, { bits: 32 }) : value;
  }

  /** What of a register an element of so many bits takes. */
  #narrowed(value: Value, { bits }: Pick<Access, "bits">): Value {
    return bits < 64 && (value.ty === "i64" || value.ty === "f64") ? this.#converted("i32.wrap_i64", value) : value;
  }

  #converted(prim: "i32.wrap_i64" | "i64.extend_i32_s" | "i64.extend_i32_u", value: Value): Value {
    if (value.kind === "uniform") {
      return {
        kind: "uniform",
        ty: prim === "i32.wrap_i64" ? "i32" : "i64",
        scalar: applyScalar(prim, [value.scalar]),
      };
    }
    return applyVector(prim, [vectorOf(value, this.#chunk.quads)], this.#chunk.quads);
  }

  #releaseAll(values: readonly Value[]): void {
    const { writer } = this.#chunk;
    const release = (node: Wasm): void => {
      if (node.kind === "local") writer.release(node.local);
    };
    for (const value of values) {
      if (value.kind === "uniform") release(value.scalar);
      if (value.kind === "vector") for (const quad of value.quads) quad.forEach(release);
    }
  }
}

/** 1 where the mask has all lanes. */
export const everyLane = (mask: readonly Wasm[]): Wasm =>
  wasm.op(
    "i32x4.all_true",
    mask.reduce((a, b) => wasm.op("v128.and", a, b)),
  );

const scalarLoad = ({ bits, signed }: Access): MemoryOp =>
  bits === 64 ? "i64.load" : bits === 32 ? "i32.load" : `i32.load${bits}_${signed ? "s" : "u"}`;

function scalarStore({ bits }: Access, from: Wasm["ty"]): MemoryOp {
  if (bits === 64) return from === "f64" ? "f64.store" : "i64.store";
  if (from === "f32") return "f32.store";
  if (from === "i64") return bits === 32 ? "i64.store32" : bits === 16 ? "i64.store16" : "i64.store8";
  return bits === 32 ? "i32.store" : bits === 16 ? "i32.store16" : "i32.store8";
}

const laneStore = ({ bits }: Access): MemoryOp => `v128.store${bits}_lane`;

/** The functions of the module that access memory at the places in the context. */
export const gatherName = ({ bits, signed }: Access): string => `gather${bits}${signed && bits < 32 ? "s" : "u"}`;
export { scalarLoad };
