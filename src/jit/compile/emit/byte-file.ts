import { type FileLeaf, fileLeavesOf } from "../../../ir/flow/accesses.ts";
import { type ByteFile, type FileTarget, type Instruction, variablesAt } from "../../../ir/index.ts";
import { allLanes, byteOf, type Lanes, liesWithin, strideOf } from "../../../ir/region.ts";
import type { RegionLeaf } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { hasLane, isAll, isNone, type Mask } from "../lanes/mask.ts";
import {
  bitsOfScalar,
  isWide,
  laneOf,
  type Quad,
  scalarIn,
  type Value,
  type Vector,
  vectorOf,
  widenMask,
} from "../lanes/value.ts";
import { scalarLoad } from "../module/access-helpers.ts";
import type { ByteFilePort } from "./byte-file-port.ts";
import type { Chunk } from "./chunk.ts";
import { loadElements, scalarStore } from "./memory-ops.ts";

type Bits = FileTarget["bits"];

/**
 * The byte file of an activation (vISA), which lies in memory. All that an instruction reads of it is loaded into
 * locals before anything is written, so that the order of lanes does not matter.
 */
export class ByteFileAccess implements ByteFilePort {
  readonly #chunk: Chunk;
  readonly #file: ByteFile;
  /** Local: the byte of memory where the file begins. */
  readonly #base: number;
  /** Local: where the file begins in which the registers lie that calls pass; null: in this one. */
  #passed: number | null = null;
  /** Locals that hold what the current instruction reads or is about to store. */
  #temporaries: number[] = [];

  constructor(chunk: Chunk, file: ByteFile) {
    this.#chunk = chunk;
    this.#file = file;
    this.#base = chunk.writer.local("i32");
  }

  place(): void {
    this.#chunk.writer.set(this.#base);
  }

  placePassed(): void {
    this.#passed ??= this.#chunk.writer.local("i32");
    this.#chunk.writer.set(this.#passed);
  }

  get base(): Wasm {
    return wasm.local("i32", this.#base);
  }

  get passed(): Wasm {
    return wasm.local("i32", this.#passed ?? this.#base);
  }

  /** The local with where the file begins that has a byte. */
  #baseOf(at: number): number {
    return this.#passed !== null && at < variablesAt(this.#file.grfBytes) ? this.#passed : this.#base;
  }

  read(instruction: Instruction): void {
    const lanes = this.#within(instruction.lanes ?? allLanes);
    for (const leaf of fileLeavesOf(instruction)) {
      this.#chunk.provide(leaf, leaf.kind === "region" ? this.#region(leaf, lanes) : this.#indirect(leaf, lanes));
    }
  }

  finish(): void {
    for (const local of this.#temporaries) this.#chunk.writer.release(local);
    this.#temporaries = [];
  }

  loadHomes(registers: Iterable<number>): void {
    const { writer, function: ir, locals, quads } = this.#chunk;
    for (const r of registers) {
      const { home } = ir.registers[r]!;
      if (home === undefined) continue;
      const ty = home.bits === 64 ? "i64" : "i32";
      const first = home.lanes?.first ?? 0;
      const region = { at: home.at, first, vertical: home.lanes === null ? 0 : 1, width: 1, horizontal: 0 };
      const leaf: RegionLeaf = { kind: "region", ty, bits: home.bits, signed: false, region };
      const value = this.#region(leaf, this.#within(home.lanes ?? { first: 0, count: 1 }));
      const parts = value.kind === "uniform" ? [value.scalar] : vectorOf(value, quads).quads.flat();
      writer.assign(locals(r).map((local, i) => ({ local, value: parts[i]! })));
      this.finish();
    }
  }

  kept(value: Value): Value {
    const keep = (node: Wasm): Wasm => {
      const local = this.#temporary(node.ty);
      this.#chunk.writer.assign([{ local, value: node }]);
      return wasm.local(node.ty, local);
    };
    if (value.kind === "uniform") return { kind: "uniform", ty: value.ty, scalar: keep(value.scalar) };
    const { ty, quads } = vectorOf(value, this.#chunk.quads);
    const { lanes } = this.#chunk;
    const rule = this.#chunk.rule ?? { first: 0, count: lanes };
    const isUsed = (q: number): boolean => 4 * q + 3 >= rule.first && 4 * q < rule.first + rule.count;
    return { kind: "vector", ty, quads: quads.map((quad, q) => (isUsed(q) ? quad.map(keep) : quad)) };
  }

  store(target: FileTarget, value: Value, mask: Mask): void {
    const lanes = this.#within(this.#chunk.rule ?? allLanes);
    if (target.kind === "indirect") this.#storeEach(target, value, mask, lanes);
    else {
      if (!liesWithin(target.region, target.bits, lanes, this.#file.bytes))
        throw new Unsupported("a region that leaves its file");
      const stride = strideOf(target.region, lanes);
      if (stride === 0 && lanes.count === 1)
        this.#storeOne(byteOf(target.region, target.bits, lanes.first), target.bits, value, mask, lanes.first);
      else if (stride === 1)
        this.#storeRow(target.region.at, target.bits, vectorOf(value, this.#chunk.quads), mask, lanes);
      else this.#storeEach(target, value, mask, lanes);
    }
  }

  /** The lanes of an instruction, limited to those that the chunk has. */
  #within({ first, count }: Lanes): Lanes {
    return { first, count: Math.max(1, Math.min(count, this.#chunk.lanes - first)) };
  }

  #temporary(ty: Wasm["ty"]): number {
    const local = this.#chunk.writer.local(ty);
    this.#temporaries.push(local);
    return local;
  }

  // ---- Reading ----------------------------------------------------------------------------------------------------

  #region(leaf: RegionLeaf, lanes: Lanes): Value {
    const { region, bits, ty } = leaf;
    if (!liesWithin(region, bits, lanes, this.#file.bytes)) throw new Unsupported("a region that leaves its file");
    const stride = strideOf(region, lanes);
    const at = byteOf(region, bits, lanes.first);
    if (stride === 0) {
      const { writer } = this.#chunk;
      const local = this.#temporary(bits === 64 ? "i64" : "i32");
      writer.get(this.#baseOf(at));
      writer.memory(scalarLoad(leaf), 1, at);
      writer.set(local);
      return { kind: "uniform", ty, scalar: scalarIn(ty, local) };
    }
    const row = (firstLane: number): void => this.#row(leaf, at, firstLane - lanes.first);
    return this.#vector(leaf, lanes, stride === 1 ? row : null, (lane) => {
      this.#chunk.writer.get(this.#baseOf(at));
      this.#chunk.writer.memory(scalarLoad(leaf), 1, byteOf(region, bits, lane));
    });
  }

  /**
   * A vector that is loaded part by part: by `row`, which leaves all elements of a part on the stack, or by `one` for
   * each lane.
   */
  #vector(
    { bits, ty }: FileLeaf,
    lanes: Lanes,
    row: ((firstLane: number) => void) | null,
    one: (lane: number) => void,
  ): Vector {
    const { writer, quads } = this.#chunk;
    const perQuad = isWide(ty) ? 2 : 1;
    const perPart = 4 / perQuad;
    const part = (firstLane: number): Wasm => {
      const isLane = (lane: number): boolean => lane >= lanes.first && lane < lanes.first + lanes.count;
      const mine = Array.from({ length: perPart }, (_, l) => firstLane + l).filter(isLane);
      if (mine.length === 0) return wasm.i32x4(0);
      const local = this.#temporary("v128");
      if (row !== null) row(firstLane);
      else {
        writer.value(wasm.i32x4(0));
        for (const lane of mine) {
          one(lane);
          writer.op(bits === 64 ? "i64x2.replace_lane" : "i32x4.replace_lane", [lane - firstLane]);
        }
      }
      writer.set(local);
      return wasm.local("v128", local);
    };
    const quad = (q: number): Quad => Array.from({ length: perQuad }, (_, h) => part(4 * q + h * perPart));
    return { kind: "vector", ty, quads: Array.from({ length: quads }, (_, q) => quad(q)) };
  }

  /** Leaves the contiguous elements of a quad (of 64 bits: of two lanes) on the stack. */
  #row(leaf: RegionLeaf, at: number, lane: number): void {
    const { writer } = this.#chunk;
    const { bits } = leaf;
    const offset = at + (lane * bits) / 8;
    writer.get(this.#baseOf(at));
    if (offset < 0) {
      writer.i32(offset);
      writer.op("i32.add");
    }
    loadElements(writer, leaf, 1, Math.max(0, offset));
  }

  /** An element outside of the file reads as 0. */
  #indirect(leaf: Extract<FileLeaf, { kind: "indirect" }>, lanes: Lanes): Value {
    const { bits, ty } = leaf;
    const { writer } = this.#chunk;
    const address = this.#chunk.value(leaf.address);
    const last = this.#file.bytes - bits / 8;
    const load = (at: Wasm): void => {
      // An offset outside the file is replaced by 0, and the loaded element is then discarded.
      const offset = this.#temporary("i32");
      writer.assign([{ local: offset, value: at }]);
      const inside = wasm.op("i32.le_u", wasm.local("i32", offset), wasm.i32(last));
      const safe = wasm.select(inside, wasm.local("i32", offset), wasm.i32(0));
      writer.value(wasm.op("i32.add", wasm.local("i32", this.#base), safe));
      writer.memory(scalarLoad(leaf), 1, 0);
      if (bits === 64) writer.i64(0n);
      else writer.i32(0);
      writer.value(inside);
      writer.select(bits === 64 ? "i64" : "i32");
    };
    if (address.kind === "uniform") {
      const local = this.#temporary(bits === 64 ? "i64" : "i32");
      load(address.scalar);
      writer.set(local);
      return { kind: "uniform", ty, scalar: scalarIn(ty, local) };
    }
    const offsets = vectorOf(this.kept(address), this.#chunk.quads);
    return this.#vector(leaf, lanes, null, (lane) => load(laneOf(offsets, lane)));
  }

  // ---- Writing ----------------------------------------------------------------------------------------------------

  #storeOne(at: number, bits: Bits, value: Value, mask: Mask, lane: number): void {
    const { writer } = this.#chunk;
    const scalar = bitsOfScalar(
      value.kind === "uniform" ? value.scalar : laneOf(vectorOf(value, this.#chunk.quads), lane),
    );
    const store = (): void => {
      writer.get(this.#baseOf(at));
      writer.value(scalar);
      writer.memory(scalarStore({ bits }), 1, at);
    };
    this.#if(hasLane(mask, lane), store);
  }

  #if(condition: Wasm | null, then: () => void): void {
    if (condition === null) then();
    else if (condition.kind !== "const") {
      this.#chunk.writer.value(condition);
      this.#chunk.writer.if(then);
    }
  }

  /** Stores contiguous elements; `at` is the offset of the first lane's in the file. */
  #storeRow(at: number, bits: Bits, value: Vector, mask: Mask, lanes: Lanes): void {
    const { writer, quads } = this.#chunk;
    const perQuad = bits === 64 ? 2 : 1;
    const perPart = 4 / perQuad;
    for (let part = 0; part < quads * perQuad; part++) {
      const first = part * perPart;
      if (first + perPart <= lanes.first || first >= lanes.first + lanes.count) continue;
      const quad = mask?.[Math.floor(first / 4)];
      if (quad !== undefined && isNone(quad)) continue;
      const offset = at + ((first - lanes.first) * bits) / 8;
      const node = value.quads[Math.floor(first / 4)]![perQuad === 2 ? part & 1 : 0]!;
      if (offset < 0 || (quad !== undefined && !isAll(quad) && offset + 16 > this.#file.bytes))
        throw new Unsupported("a part of a row at the end of its file");
      const isWhole = quad === undefined || isAll(quad);
      const element = perQuad === 2 && quad !== undefined ? widenMask(quad)[part & 1] : quad;
      const base = this.#baseOf(at);
      writer.get(base);
      writer.value(isWhole ? node : this.#blended(bits, node, element!, { base, offset }));
      this.#storePart(bits, offset);
    }
  }

  /** Blends a vector with what memory holds, outside the mask. */
  #blended(
    bits: Bits,
    node: Wasm,
    mask: Wasm,
    { base, offset }: { readonly base: number; readonly offset: number },
  ): Wasm {
    const { writer } = this.#chunk;
    const old = this.#temporary("v128");
    writer.get(base);
    loadElements(writer, { bits, signed: false }, 1, offset);
    writer.set(old);
    return wasm.blend(mask, node, wasm.local("v128", old));
  }

  /** Stores the vector on the stack at the address below it, narrowed to elements of `bits` bits. */
  #storePart(bits: Bits, offset: number): void {
    const { writer } = this.#chunk;
    if (bits >= 32) {
      writer.memory("v128.store", 1, offset);
      return;
    }
    const local = this.#temporary("v128");
    writer.set(local);
    const v = wasm.local("v128", local);
    const bytes = bits === 16 ? [0, 1, 4, 5, 8, 9, 12, 13] : [0, 4, 8, 12];
    const low = [...bytes, ...Array.from({ length: 16 - bytes.length }, () => 0)];
    writer.value(wasm.shuffle(v, v, low));
    writer.memory(bits === 16 ? "v128.store64_lane" : "v128.store32_lane", 1, offset, 0);
  }

  /** Stores lane by lane in ascending order: where offsets coincide, the last lane's value stays. */
  #storeEach(target: FileTarget, value: Value, mask: Mask, lanes: Lanes): void {
    const { writer, quads } = this.#chunk;
    const vector = vectorOf(value, quads);
    const offsets = target.kind === "indirect" ? vectorOf(this.kept(this.#chunk.value(target.address)), quads) : null;
    const last = this.#file.bytes - target.bits / 8;
    for (let lane = lanes.first; lane < lanes.first + lanes.count; lane++) {
      const scalar = bitsOfScalar(laneOf(vector, lane));
      this.#if(hasLane(mask, lane), () => {
        if (target.kind === "region") {
          const at = byteOf(target.region, target.bits, lane);
          writer.get(this.#baseOf(at));
          writer.value(scalar);
          writer.memory(scalarStore(target), 1, at);
          return;
        }
        const offset = laneOf(offsets!, lane);
        writer.value(wasm.op("i32.le_u", offset, wasm.i32(last)));
        writer.if(() => {
          writer.value(wasm.op("i32.add", wasm.local("i32", this.#base), offset));
          writer.value(scalar);
          writer.memory(scalarStore(target), 1, 0);
        });
      });
    }
  }
}
