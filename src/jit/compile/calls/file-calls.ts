import type { FileCallOp, SubroutineCallOp } from "../../../ir/calls.ts";
import { argAt, argRegisters, type Instruction, retvalAt, retvalRegisters, windows } from "../../../ir/index.ts";
import { functionStride } from "../../../machine/memory/address-space.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { suspendedFrameWords } from "../../abi/chunk-state.ts";
import { callEntry } from "../../abi/context-layout.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fullAddresses } from "../emit/lane-addresses.ts";
import { clearBytes } from "../emit/memory-ops.ts";
import { forRuleLanes, type RuleLanes } from "../emit/rule-lanes.ts";
import { anyOf, laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { targetTable } from "../module/call-target-table.ts";
import { pushWord, storeWord } from "../module/function-context.ts";
import { bytesInCaller, bytesTaken, calledBytes } from "../plan/activation-size.ts";
import { fits } from "../../../ir/calls.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import { functionName, wasmSignature } from "../plan/calling-convention.ts";
import { suspensionReason } from "../plan/suspension-points.ts";
import { loadLive, storeLive } from "../sync/named-lanes.ts";
import type { Caller } from "./caller.ts";
import { SharedRegisters } from "./shared-registers.ts";

/** The lanes that call. */
type Callers = Omit<RuleLanes, "condition">;

/** How a callee is entered. `prepare` runs only before it begins, not before it resumes. `callee`: its number. */
interface Entry {
  readonly prepare: () => void;
  readonly call: (lanes: readonly Wasm[], callee: Wasm) => void;
}

type Indirect = Extract<FileCallOp["target"], { kind: "indirect" }>;

const add = (a: Wasm, bytes: number): Wasm => (bytes === 0 ? a : wasm.op("i32.add", a, wasm.i32(bytes)));

/**
 * vISA calls: one callee for all lanes, whose arguments are in a byte file of its callerFile, or in that of its
 * routine.
 */
export class FileCalls {
  readonly #caller: Caller;
  readonly #chunk: Chunk;
  readonly #writer: FunctionWriter;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.#chunk = caller.chunk;
    this.#writer = caller.chunk.writer;
  }

  call(block: number, index: number, instruction: Instruction, op: FileCallOp): void {
    forRuleLanes(this.#chunk, block, instruction, (callers) => {
      if (op.target.kind === "direct") {
        const [callee] = this.#graph.targetsOf(op);
        if (fits(op, callee!.ir)) this.#enter(block, index, op, callers.lanes, [callee!], null);
        else this.#caller.faults.raise(index, callers.lanes);
      } else this.#indirect(block, index, op, op.target, callers);
    });
  }

  /** Calls a subroutine, which uses the registers and the byte file of its routine. */
  callSubroutine(block: number, index: number, instruction: Instruction, op: SubroutineCallOp): void {
    const [callee] = this.#graph.targetsOf(op);
    const registers = new SharedRegisters(this.#chunk, this.#caller.compiled);
    forRuleLanes(this.#chunk, block, instruction, ({ lanes }) => {
      this.#begin(block, op, lanes, [callee!], null, {
        prepare: () => registers.store(op.registers ?? []),
        call: (entered, number) => {
          this.#fillEntry(index, [callee!], number, { file: this.#base, passed: this.#chunk.file!.passed });
          this.#writer.values([...this.#start(), ...entered]);
          this.#writer.call(functionName(callee!));
        },
      });
      registers.load(op.registers ?? []);
    });
  }

  get #graph() {
    return this.#caller.unit.graph;
  }

  /** The address of the byte file. */
  get #base(): Wasm {
    return this.#chunk.file!.base;
  }

  /** The lanes with which the callee begins. Stores which lanes have not exited, for callees that enlist them all. */
  #lanesOf(isForAll: boolean, lanes: readonly Wasm[]): readonly Wasm[] {
    const { compiled, isFunction } = this.#caller;
    const w = this.#writer;
    if (!this.#graph.enlistsLanes(compiled)) return lanes;
    if (!isFunction) {
      const live = this.#caller.flow.live();
      storeLive(w, this.#caller.memory, laneBits(live));
      return isForAll ? live : lanes;
    }
    if (!isForAll) return lanes;
    const live = w.local("i32");
    loadLive(w, this.#caller.memory, live);
    return maskOfBits(wasm.local("i32", live), this.#chunk.quads);
  }

  /**
   * Begins a callee, or resumes one that has been suspended; after it the callee has returned. `number`: which of
   * several it is.
   */
  #begin(
    block: number,
    op: FileCallOp | SubroutineCallOp,
    lanes: readonly Wasm[],
    callees: readonly CompiledFunction[],
    number: Wasm | null,
    { prepare, call }: Entry,
  ): void {
    const w = this.#writer;
    const callee = number ?? wasm.i32(callees[0]!.number);
    const suspension = this.#caller.suspension;
    if (suspension === null || !callees.some((f) => this.#graph.suspends(f))) {
      prepare();
      call(this.#lanesOf(op.allLanes, lanes), callee);
      return;
    }
    const { quads } = this.#chunk;
    const { memory } = this.#caller;
    const suspended = suspension.firstFrameAt(block);
    const [entering, bits] = [w.local("i32"), w.local("i32")];
    const load = (word: keyof typeof suspendedFrameWords): void => {
      w.get(suspended);
      w.memory("i32.load", 4, suspendedFrameWords[word]);
    };
    const entered = this.#lanesOf(op.allLanes, lanes);
    w.get(suspended);
    w.if(
      () => {
        load("callee");
        w.set(entering);
        load("lanes");
        w.set(bits);
      },
      () => {
        prepare();
        w.assign([
          { local: entering, value: callee },
          { local: bits, value: laneBits(entered) },
        ]);
      },
    );
    storeWord(w, memory, "resumedFrame", wasm.local("i32", suspended));
    storeWord(w, memory, "suspendedFrame", wasm.i32(0));
    call(maskOfBits(wasm.local("i32", bits), quads), wasm.local("i32", entering));
    pushWord(w, memory, "suspendedFrame");
    w.tee(suspended);
    w.if(() => {
      load("reason");
      w.i32(suspensionReason.yield);
      w.op("i32.eq");
      w.if(
        () => this.#caller.flow.suspend("call in a loop", block, block, null),
        () => this.#caller.flow.suspend("call at a barrier", block, block, null),
      );
    });
    w.release(entering);
    w.release(bits);
  }

  #indirect(block: number, index: number, op: FileCallOp, target: Indirect, { lanes, decider }: Callers): void {
    const w = this.#writer;
    const { low, differ, store } = this.#address(target, lanes, decider);
    const targets = this.#graph.targetsOf(op);
    const distance = wasm.op("i32.sub", wasm.local("i32", low), wasm.i32(windows.function.start));
    const functionNumber = wasm.op("i32.shr_u", distance, wasm.i32(Math.log2(functionStride)));
    const isInvalid = w.local("i32");
    w.assign([{ local: isInvalid, value: differ }]);
    const number = w.local("i32");
    w.assign([{ local: number, value: functionNumber }]);
    const { unit } = this.#caller;
    const count = unit.facts.functions.list.length;
    const isOutside = wasm.op(
      "i32.or",
      wasm.op("i32.ge_u", distance, wasm.i32(count * functionStride)),
      wasm.op("i32.and", wasm.local("i32", low), wasm.i32(functionStride - 1)),
    );
    w.value(isOutside);
    w.if(
      () => w.assign([{ local: isInvalid, value: wasm.i32(1) }]),
      () => {
        const { context, layout } = this.#caller.memory;
        w.value(wasm.op("i32.add", wasm.local("i32", context), wasm.local("i32", number)));
        w.memory("i32.load8_u", 1, layout.targets + targetTable(unit, targets) * count);
        w.op("i32.eqz");
        w.if(() => w.assign([{ local: isInvalid, value: wasm.i32(1) }]));
      },
    );
    w.get(isInvalid);
    w.if(() => {
      store();
      this.#caller.faults.raise(index, lanes);
    });
    if (targets.length > 0) this.#enter(block, index, op, lanes, targets, wasm.local("i32", number));
    for (const local of [low, isInvalid, number]) w.release(local);
  }

  /**
   * Returns the local with the low half of the callee's address, and in `differ` not 0 if the callers have different
   * addresses or the high half is not 0. `store` stores the address of each lane for the launcher to read.
   */
  #address({ address }: Indirect, lanes: readonly Wasm[], decider: number | null) {
    const w = this.#writer;
    const chunk = this.#chunk;
    const { context, layout } = this.#caller.memory;
    const value = chunk.value(address);
    const [low, high] = [w.local("i32"), w.local("i32")];
    const store = (): void =>
      fullAddresses(chunk, address)
        .quads.flat()
        .forEach((part, i) => {
          w.get(context);
          w.value(part!);
          w.memory("v128.store", 16, layout.addresses + 16 * i);
        });
    const isWide = value.ty === "i64";
    if (value.kind === "uniform") {
      const { scalar } = value;
      const upper = (): Wasm => wasm.op("i32.wrap_i64", wasm.op("i64.shr_u", scalar, wasm.i64(32n)));
      w.assign([
        { local: low, value: isWide ? wasm.op("i32.wrap_i64", scalar) : scalar },
        { local: high, value: isWide ? upper() : wasm.i32(0) },
      ]);
      return { low, differ: wasm.local("i32", high), store };
    }
    store();
    const lane = decider === null ? wasm.op("i32.ctz", laneBits(lanes)) : wasm.i32(decider);
    const first = wasm.op("i32.add", wasm.local("i32", context), wasm.op("i32.shl", lane, wasm.i32(3)));
    for (const [to, offset] of [
      [low, 0],
      [high, 4],
    ] as const) {
      w.value(first);
      w.memory("i32.load", 4, layout.addresses + offset);
      w.set(to);
    }
    if (decider !== null) return { low, differ: wasm.local("i32", high), store };
    const others = fullAddresses(chunk, address).quads.map(([a, b], q) => {
      const halves = [
        [low, [0, 2, 4, 6]],
        [high, [1, 3, 5, 7]],
      ] as const;
      const [x, y] = halves.map(([local, order]) =>
        wasm.op("i32x4.ne", wasm.shuffle32(a!, b!, order), wasm.op("i32x4.splat", wasm.local("i32", local))),
      );
      return wasm.op("v128.and", lanes[q]!, wasm.op("v128.or", x!, y!));
    });
    return { low, differ: wasm.op("i32.or", wasm.local("i32", high), anyOf(others)), store };
  }

  /** Fills the byte file of a routine, calls it, and copies what it returns. `number`: which of several it is. */
  #enter(
    block: number,
    index: number,
    op: FileCallOp,
    lanes: readonly Wasm[],
    callees: readonly CompiledFunction[],
    number: Wasm | null,
  ): void {
    const w = this.#writer;
    const { compiled, unit } = this.#caller;
    const { grfBytes } = compiled.ir.file!;
    if (callees.some((f) => f.ir.file!.grfBytes !== grfBytes)) throw new Unsupported("routines of several platforms");
    const inPlace = callees.every((f) => unit.passed.isInPlace(f));
    const callerFile = this.#chunk.file!.passed;
    const calleeFile = w.local("i32");
    // The files of a kernel, in which its subroutines run, lie elsewhere: those of all threads one after the other.
    const isKernel = compiled.number === this.#graph.functions[0]!.number;
    const routine = unit.passed.routineOf(compiled);
    const taken = bytesInCaller(routine, unit) + bytesTaken(routine, unit);
    const free = isKernel ? this.#callFiles : add(this.#base, taken);
    // Callees whose files begin at different bytes are called by address, and then none does.
    w.assign([{ local: calleeFile, value: add(free, -bytesInCaller(callees[0]!, unit)) }]);
    const to = wasm.local("i32", calleeFile);
    const [arg, retval] = [argAt + op.argSize * grfBytes, retvalAt(grfBytes)];
    const afterArg = argAt + argRegisters * grfBytes;
    const [used, written] = [op.argSize * grfBytes, unit.passed.argBytes];
    const prepare = (): void => {
      if (inPlace) {
        clearBytes(w, callerFile, argAt + used, argAt + written);
        return;
      }
      this.#copy(to, callerFile, 0, arg);
      clearBytes(w, to, arg, afterArg);
      this.#copy(to, callerFile, retval, retvalRegisters * grfBytes);
      clearBytes(w, callerFile, argAt, afterArg);
    };
    const call = (entered: readonly Wasm[], callee: Wasm): void => {
      this.#fillEntry(index, callees, callee, { file: to, passed: callerFile });
      w.values([...this.#start(), ...entered]);
      if (number === null || callees.length === 1) w.call(functionName(callees[0]!));
      else {
        const { params, results } = wasmSignature({ params: [], returns: [], mayExit: false }, unit.quads);
        w.value(callee);
        w.callIndirect(unit.module.type(params, results));
      }
    };
    this.#begin(block, op, lanes, callees, number, { prepare, call });
    if (inPlace) clearBytes(w, callerFile, argAt, argAt + written);
    else {
      this.#copy(callerFile, to, 0, argAt);
      this.#copy(callerFile, to, retval, op.retvalSize * grfBytes);
    }
    w.release(calleeFile);
  }

  /**
   * The address of the files of routines that the kernel calls: shared by all threads, unless these suspend in calls.
   */
  get #callFiles(): Wasm {
    const w = this.#writer;
    const { context, layout, unit } = this.#caller.memory;
    const files = add(wasm.local("i32", context), layout.callFiles);
    if (!this.#graph.suspendsInFunctions) return files;
    const first = w.local("i32");
    pushWord(w, this.#caller.memory, "first");
    w.set(first);
    const thread = wasm.op("i32.div_u", wasm.local("i32", first), wasm.i32(unit.shape.width!));
    const bytes = wasm.i32(calledBytes(unit));
    return wasm.op("i32.add", files, wasm.op("i32.mul", thread, bytes));
  }

  /** Fills the callee's entry in the shadow stack. */
  #fillEntry(
    index: number,
    callees: readonly CompiledFunction[],
    number: Wasm,
    { file, passed }: { readonly file: Wasm; readonly passed: Wasm },
  ): void {
    const w = this.#writer;
    const { unit, frame } = this.#caller;
    const { entry, layout, siteOf } = this.#caller.memory;
    const set = (offset: number, value: Wasm): void => {
      w.get(entry);
      w.value(value);
      w.memory("i32.store", 4, layout.callBytes + offset);
    };
    set(callEntry.top, file);
    if (callees.some((f) => unit.passed.isInPlace(f))) set(callEntry.passed, passed);
    if (unit.stacks.isChecked) set(callEntry.room, frame.room);
    if (!callees.some((f) => unit.stacks.isTracked(f))) return;
    set(callEntry.site, wasm.i32(siteOf(index, null)));
    set(callEntry.callee, number);
  }

  /** The first arguments of every function of the module. */
  #start(): readonly Wasm[] {
    const { context, entry, layout } = this.#caller.memory;
    return [wasm.local("i32", context), add(wasm.local("i32", entry), layout.callBytes)];
  }

  /** Copies bytes of one file to the same offset of another. All sizes are multiples of 16. */
  #copy(to: Wasm, from: Wasm, at: number, bytes: number): void {
    const w = this.#writer;
    for (let i = at; i < at + bytes; i += 16) {
      w.value(to);
      w.value(from);
      w.memory("v128.load", 16, i);
      w.memory("v128.store", 16, i);
    }
  }
}
