import type { IrFunction } from "../ir/index.ts";
import { type Features, type FunctionWriter, ModuleWriter, wasm } from "../wasm/index.ts";
import { accessFunctions } from "./access-functions.ts";
import { Analysis } from "./analysis.ts";
import { Body } from "./body.ts";
import { Chunk } from "./chunk.ts";
import { type ContextLayout, layContext } from "./context-layout.ts";
import { splitAtLoopExits } from "./loop-exits.ts";
import type { MemoryContext } from "./memory.ts";
import { hoistedOf } from "./hoisting.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { Reaches } from "./reaches.ts";
import { Rounds } from "./rounds.ts";
import { Specials, specialShape, specialsOf } from "./specials.ts";
import { type Pauses, pausesOf, Suspension } from "./suspension.ts";
import type { LaunchShape, ProgramFacts, Site, Unit } from "./unit.ts";
import { Unsupported } from "./unsupported.ts";

/** A kernel as a WebAssembly module, and what the launcher must know to run it. */
export interface CompiledKernel {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lanes: number;
  readonly shape: LaunchShape;
  readonly layout: ContextLayout;
  /** Offsets of the parameters that are pointers whose allocation is looked up beforehand. */
  readonly roots: readonly number[];
  /** By number, the instructions that the module asks the launcher about. */
  readonly sites: readonly Site[];
  /** Host functions that the module imports. */
  readonly imports: readonly string[];
}

/** @throws Unsupported when the kernel has something that is not compiled */
export function compileKernel(
  ir: IrFunction,
  shape: LaunchShape,
  facts: ProgramFacts,
  features: Features,
): CompiledKernel {
  const code = prepare(ir, facts.bindings);
  const unit = unitOf(code, shape, facts, features);
  const { module, layout, quads } = unit;
  module.importMemory({ initial: 1, maximum: 65536, shared: false });
  module.importFunction("translate", ["i32", "i32", "i32"], []);
  accessFunctions(module, layout, quads * 4);
  writeRun(unit, code);
  module.export("run");
  return {
    name: ir.name,
    bytes: module.finish(),
    lanes: quads * 4,
    shape,
    layout,
    roots: unit.roots,
    sites: unit.sites,
    imports: module.imports,
  };
}

function unitOf({ ir, instructions }: Prepared, shape: LaunchShape, facts: ProgramFacts, features: Features): Unit {
  const { quads } = shape;
  const params = ir.params.flatMap(({ storage, type }) =>
    storage.kind === "kernel" ? [{ at: storage.offset, type }] : [],
  );
  const pointers = params.filter(({ type }) => type.size === facts.addressSize / 8 && type.kind !== "f");
  const roots = pointers.map(({ at }) => at);
  return {
    module: new ModuleWriter(features),
    facts,
    shape,
    quads,
    layout: layContext({
      lanes: quads * 4,
      paramBytes: params.reduce((end, { at, type }) => Math.max(end, at + type.size), 0),
      roots: roots.length,
      sites: instructions.length,
      stateBytes,
      sharedBytes: facts.sharedBytes,
    }),
    roots,
    sites: [],
    records: 0,
  };
}

const [context, ticket, last] = [0, 1, 2];

/** Room for what a chunk of lanes keeps while it pauses. */
const stateBytes = 4096;

/** `run(context, from, to)`: the blocks with these tickets, one after the other, each chunk by chunk. */
function writeRun(unit: Unit, prepared: Prepared): void {
  const { shape, layout, quads, facts } = unit;
  const w = unit.module.function("run", ["i32", "i32", "i32"], []);
  const { analysis, pauses } = analysed(prepared, shape);
  const { code } = analysis;
  const stalled = new Set([...pauses.barriers.values(), ...pauses.spins]);
  const specials = new Specials(w, layout, context, shape, specialsOf(code.instructions));
  const chunk = new Chunk(
    w,
    analysis,
    quads,
    (leaf) => specials.value(leaf),
    () => {
      throw new Unsupported("variables of the frame");
    },
  );
  const reaches = new Reaches(unit, w, code, context);
  const suspension = stalled.size === 0 ? null : new Suspension(chunk, pauses);
  if (suspension !== null && suspension.bytes > stateBytes)
    throw new Unsupported("so many registers live at a barrier");
  const memory: MemoryContext = {
    context,
    layout,
    isShared: false,
    reachOf: (access, address) => reaches.of(access, address),
    siteOf: (instruction, record) =>
      unit.sites.push({ function: code.ir.name, instruction: code.origins[instruction]!, record }) - 1,
  };
  const hoisted = hoistedOf(analysis);
  const body = new Body(chunk, memory, pauses, suspension, hoisted);
  /** Instructions that are executed here, and the vectors of their results. */
  const hoist = (instructions: readonly number[]): void => {
    body.hoist(instructions);
    for (const i of instructions) {
      for (const to of code.instructions[i]!.dst) {
        if (typeof to === "number" && hoisted.splats.has(to)) chunk.keepSplat(to);
      }
    }
  };
  const threads = w.local("i32");
  const { first } = specials;
  const local = (index: number) => wasm.local("i32", index);
  specials.loadGrid();
  reaches.loadRoots();
  w.get(context);
  w.memory("i32.load", 4, layout.words.threads);
  w.set(threads);
  hoist(hoisted.grid);
  const none = w.begin("block");
  w.value(wasm.op("i32.ge_u", local(ticket), local(last)));
  w.brIf(none);
  w.loop((nextBlock) => {
    specials.startBlock(ticket);
    hoist(hoisted.block);
    if (facts.sharedBytes > 0) clearShared(unit, w);
    const begin = (): void => {
      activate(chunk, shape.full, threads, first);
      clearRegisters(chunk);
      body.flow.reset();
      body.begin();
    };
    const eachChunk = (run: () => void): void => {
      w.assign([{ local: first, value: wasm.i32(0) }]);
      w.loop((nextChunk) => {
        run();
        count(w, first, chunk.lanes);
        w.value(wasm.op("i32.lt_u", local(first), local(threads)));
        w.brIf(nextChunk);
      });
    };
    if (suspension === null) {
      eachChunk(() => {
        specials.startChunk();
        begin();
        body.flow.write();
      });
    } else new Rounds(unit, w, context, first, suspension, body).write(eachChunk, specials, begin);
    count(w, ticket, 1);
    w.value(wasm.op("i32.lt_u", local(ticket), local(last)));
    w.brIf(nextBlock);
  });
  w.end();
}

/** The code of a kernel, with registers split where that makes it better. */
function analysed(code: Prepared, shape: LaunchShape): { readonly analysis: Analysis; readonly pauses: Pauses } {
  const pauses = pausesOf(code.graph, code.instructions);
  const stalled = new Set([...pauses.barriers.values(), ...pauses.spins]);
  const analysis = new Analysis(code, {
    special: (leaf) => specialShape(leaf, shape),
    params: new Map(),
    full: shape.full,
    stalls: (block) => stalled.has(block),
  });
  const split = code.edgeCopies.size > 0 ? null : splitAtLoopExits(code, analysis.isDivergent);
  return split === null ? { analysis, pauses } : analysed(split, shape);
}

/** Shared memory begins as zeros in every block. */
function clearShared({ layout, facts }: Unit, w: FunctionWriter): void {
  w.value(wasm.op("i32.add", wasm.local("i32", context), wasm.i32(layout.shared)));
  w.i32(0);
  w.i32(facts.sharedBytes);
  w.memoryFill();
}

const count = (w: FunctionWriter, local: number, by: number): void =>
  w.assign([{ local, value: wasm.op("i32.add", wasm.local("i32", local), wasm.i32(by)) }]);

/** The lanes that have a thread. */
function activate({ writer, active }: Chunk, full: boolean, threads: number, first: number): void {
  const left = wasm.op("i32x4.splat", wasm.op("i32.sub", wasm.local("i32", threads), wasm.local("i32", first)));
  const lanes = (q: number) => wasm.lanes([4 * q, 4 * q + 1, 4 * q + 2, 4 * q + 3]);
  writer.assign(
    active.map((local, q) => ({ local, value: full ? wasm.i32x4(-1) : wasm.op("i32x4.lt_s", lanes(q), left) })),
  );
}

/** Registers that are read before they are written hold zeros. */
function clearRegisters({ writer, analysis, locals }: Chunk): void {
  const zero = { i32: wasm.i32(0), i64: wasm.i64(0n), v128: wasm.i32x4(0), f32: wasm.f32(0), f64: wasm.f64(0) };
  analysis.code.liveness.liveIn(0).forEach((r) => {
    writer.assign(locals(r).map((l) => ({ local: l, value: zero[writer.typeOf(l)] })));
  });
}
