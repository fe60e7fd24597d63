import type { Access, Instruction, Op } from "../ir/index.ts";
import { type Wasm, wasm } from "../wasm/index.ts";
import { gatherName, scatterName } from "./access-functions.ts";
import { AtomicOperations } from "./atomics.ts";
import type { Chunk, Mask } from "./chunk.ts";
import { anyOf } from "./control-flow.ts";
import { ElementMoves } from "./element-moves.ts";
import { elementInRegister, elementToStore } from "./element-value.ts";
import { bothMasks } from "./lane-bits.ts";
import { bitsOf, Locator, type MemoryContext } from "./locator.ts";
import { type Quad, type Value, vectorOf } from "./value.ts";

type LoadOp = Extract<Op, { kind: "load" }>;
type StoreOp = Extract<Op, { kind: "store" }>;
type AtomicOp = Extract<Op, { kind: "atomic" }>;
type Uniform = Extract<Value, { kind: "uniform" }>;

/**
 * Loads, stores and atomic operations. What lies where it is expected is accessed at once; what does not is looked up lane by
 * lane, in what the instruction has found last, and then by the launcher.
 */
export class Memory {
  readonly #chunk: Chunk;
  readonly #context: MemoryContext;
  readonly #locator: Locator;
  readonly #moves: ElementMoves;
  readonly #atomics: AtomicOperations;

  constructor(chunk: Chunk, context: MemoryContext) {
    const isShared = context.isShared;
    this.#chunk = chunk;
    this.#context = context;
    this.#locator = new Locator(chunk, context);
    this.#moves = new ElementMoves(chunk, isShared);
    this.#atomics = new AtomicOperations(chunk, this.#locator, this.#moves, isShared);
  }

  load(block: number, index: number, { dst, guard }: Instruction, { access, address }: LoadOp): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    const guardMask = guard === null ? null : chunk.guardMask(guard);
    const active = chunk.activeMask(block);
    const mask = bothMasks(guardMask, active);
    const located = this.#locator.locate(index, active, mask);
    const { ok, places, offset } = located;
    const find = (): void => this.#locator.find(index, access, address, mask);
    let elements: Value[];
    if (places.kind === "one") {
      const ty = access.bits === 64 ? "i64" : "i32";
      const locals = Array.from({ length: access.count }, () => writer.local(ty));
      this.#either(
        ok,
        () => this.#moves.loadOne(access, places.at, offset, locals),
        () => {
          find();
          const at = writer.local("i32");
          this.#locator.loadPlace(mask, at);
          this.#moves.loadOne(access, wasm.local("i32", at), 0, locals);
          writer.release(at);
        },
      );
      elements = locals.map((local) => ({ kind: "uniform", ty, scalar: wasm.local(ty, local) }));
    } else {
      const perQuad = access.bits === 64 ? 2 : 1;
      const locals = Array.from({ length: access.count }, () => this.#vectorLocals(perQuad));
      this.#either(
        ok,
        () => this.#moves.load(access, { places, offset }, locals),
        () => {
          find();
          this.#gather(access, locals);
        },
      );
      elements = locals.map((list): Value => {
        const nodes = list.map((l) => wasm.local("v128", l));
        const quads = Array.from({ length: chunk.quads }, (_, q): Quad => nodes.slice(q * perQuad, (q + 1) * perQuad));
        return { kind: "vector", ty: access.bits === 64 ? "i64" : "i32", quads };
      });
    }
    located.release();
    const values = elements.map((value, e) => {
      const to = dst[e];
      return typeof to === "number"
        ? elementInRegister(value, access, chunk.function.registers[to]!.class, chunk.quads)
        : null;
    });
    chunk.write(block, dst, values, guardMask);
    this.#release(elements);
  }

  store(block: number, index: number, { guard }: Instruction, { access, address, values }: StoreOp): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    const active = chunk.activeMask(block);
    const mask = bothMasks(guard === null ? null : chunk.guardMask(guard), active);
    const located = this.#locator.locate(index, active, mask);
    const { ok, places, offset } = located;
    const elements = values.map((v) => (v === null ? null : elementToStore(chunk.value(v), access, chunk.quads)));
    const find = (): void => this.#locator.find(index, access, address, mask);
    if (places.kind === "one" && elements.every((v): v is Uniform | null => v === null || v.kind === "uniform")) {
      const scalars = elements.map((v) => v?.scalar ?? null);
      const store = (at: Wasm, plus: number): void => {
        if (mask === null) this.#moves.storeOne(access, at, plus, scalars);
        else {
          writer.value(anyOf(mask));
          writer.if(() => this.#moves.storeOne(access, at, plus, scalars));
        }
      };
      this.#either(
        ok,
        () => store(places.at, offset),
        () => {
          find();
          const at = writer.local("i32");
          this.#locator.loadPlace(mask, at);
          store(wasm.local("i32", at), 0);
          writer.release(at);
        },
      );
    } else {
      const locals = elements.map((value) => {
        if (value === null) return null;
        const parts = vectorOf(value, chunk.quads).quads.flat();
        const list = parts.map((part) => (part.kind === "local" ? part.local : writer.local("v128")));
        const fresh = parts.flatMap((part, i) => (part.kind === "local" ? [] : [{ local: list[i]!, value: part }]));
        writer.assign(fresh);
        return { list, fresh };
      });
      const lists = locals.map((l) => l?.list ?? null);
      this.#either(
        ok,
        () => this.#moves.store(access, { places, offset }, mask, lists),
        () => {
          find();
          this.#scatter(access, mask, lists);
        },
      );
      for (const l of locals) for (const { local } of l?.fresh ?? []) writer.release(local);
    }
    located.release();
  }

  atomic(block: number, index: number, instruction: Instruction, op: AtomicOp): void {
    this.#atomics.write(block, index, instruction, op);
  }

  #vectorLocals(perQuad: number): number[] {
    return Array.from({ length: this.#chunk.quads * perQuad }, () => this.#chunk.writer.local("v128"));
  }

  /** `then` where the condition holds, which may be known. */
  #either(condition: Wasm, then: () => void, otherwise: () => void): void {
    const { writer } = this.#chunk;
    if (condition.kind === "const") {
      if (condition.value === 0) otherwise();
      else then();
      return;
    }
    writer.value(condition);
    writer.if(then, otherwise);
  }

  /** Loads elements from the places that have been found. */
  #gather(access: Access, into: readonly (readonly number[])[]): void {
    const { writer } = this.#chunk;
    const { context, layout, unit } = this.#context;
    into.forEach((locals, e) => {
      writer.get(context);
      writer.i32((e * access.bits) / 8);
      writer.call(unit.accessFunctions.named(gatherName(access)));
      locals.forEach((local, part) => {
        writer.get(context);
        writer.memory("v128.load", 16, layout.values + part * 16);
        writer.set(local);
      });
    });
  }

  /** Stores elements at the places that have been found, in the lanes of a mask. */
  #scatter(access: Access, mask: Mask, elements: readonly (readonly number[] | null)[]): void {
    const { writer, lanes } = this.#chunk;
    const { context, layout, unit } = this.#context;
    elements.forEach((locals, e) => {
      if (locals === null) return;
      locals.forEach((local, part) => {
        writer.get(context);
        writer.get(local);
        writer.memory("v128.store", 16, layout.values + part * 16);
      });
      writer.get(context);
      writer.i32((e * access.bits) / 8);
      writer.value(bitsOf(mask, lanes));
      writer.call(unit.accessFunctions.named(scatterName(access)));
    });
  }

  #release(values: readonly Value[]): void {
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
