import type { FileCallOp, SubroutineCallOp } from "../../../ir/calls.ts";
import { argAt, argRegisters, type Instruction, retvalAt, retvalRegisters, windows } from "../../../ir/index.ts";
import { functionStride } from "../../../machine/memory/address-space.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { suspendedFrameWords } from "../../abi/chunk-state.ts";
import { callEntry } from "../../abi/context-layout.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fullAddresses } from "../emit/lane-addresses.ts";
import { forRuleLanes, type RuleLanes } from "../emit/rule-lanes.ts";
import { anyOf, laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { targetTable } from "../module/call-target-table.ts";
import { pushWord, storeWord } from "../module/function-context.ts";
import { activationBytes, calledBytes } from "../plan/activation-size.ts";
import { fits } from "../plan/call-graph.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import { functionName, wasmSignature } from "../plan/calling-convention.ts";
import { suspensionReason } from "../plan/suspension-points.ts";
import { loadLive, tellLive } from "../sync/named-lanes.ts";
import type { Caller } from "./caller.ts";
import { SharedRegisters } from "./shared-registers.ts";

type Callers = Omit<RuleLanes, "condition">;

/** What is done before a callee begins, and how it is entered: with these lanes, as this place in the program. */
interface Entry {
  readonly prepare: () => void;
  readonly call: (lanes: readonly Wasm[], callee: Wasm) => void;
}

type Indirect = Extract<FileCallOp["target"], { kind: "indirect" }>;

const add = (a: Wasm, bytes: number): Wasm => (bytes === 0 ? a : wasm.op("i32.add", a, wasm.i32(bytes)));

/** Calls of vISA: one callee for all lanes, which finds what it is given in a byte file of its own, or in that of its routine. */
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
        if (fits(op, callee!)) this.#enter(block, index, op, callers.lanes, [callee!], null);
        else this.#caller.faults.raise(index, callers.lanes);
      } else this.#indirect(block, index, op, op.target, callers);
    });
  }

  /** The subroutine goes on in the registers and the byte file of its routine. */
  callSubroutine(block: number, index: number, instruction: Instruction, op: SubroutineCallOp): void {
    const [callee] = this.#graph.targetsOf(op);
    const registers = new SharedRegisters(this.#chunk, this.#caller.callable);
    forRuleLanes(this.#chunk, block, instruction, ({ lanes }) => {
      this.#begin(block, op, lanes, [callee!], null, {
        prepare: () => registers.store(op.registers ?? []),
        call: (begun, number) => {
          this.#tell(index, [callee!], number, this.#base);
          this.#writer.values([...this.#start(), ...begun]);
          this.#writer.call(functionName(callee!));
        },
      });
      registers.load(op.registers ?? []);
    });
  }

  get #graph() {
    return this.#caller.unit.graph;
  }

  /** Where the byte file lies. */
  get #base(): Wasm {
    return this.#chunk.file!.base;
  }

  /** The lanes with which the callee begins; those that have not ended are told to whoever will take them all. */
  #begun(isForAll: boolean, lanes: readonly Wasm[]): readonly Wasm[] {
    const { callable, isFunction } = this.#caller;
    const w = this.#writer;
    if (!this.#graph.enlistsLanes(callable)) return lanes;
    if (!isFunction) {
      const everybody = this.#caller.flow.everybody();
      tellLive(w, this.#caller.memory, laneBits(everybody));
      return isForAll ? everybody : lanes;
    }
    if (!isForAll) return lanes;
    const live = w.local("i32");
    loadLive(w, this.#caller.memory, live);
    return maskOfBits(wasm.local("i32", live), this.#chunk.quads);
  }

  /** Calls, or goes on with what has been called and has paused; behind it the callee has ended. `number`: which of several it is. */
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
      call(this.#begun(op.allLanes, lanes), callee);
      return;
    }
    const { quads } = this.#chunk;
    const { memory } = this.#caller;
    const head = suspension.headAt(block);
    const [which, bits] = [w.local("i32"), w.local("i32")];
    const load = (word: keyof typeof suspendedFrameWords): void => {
      w.get(head);
      w.memory("i32.load", 4, suspendedFrameWords[word]);
    };
    const begun = this.#begun(op.allLanes, lanes);
    w.get(head);
    w.if(
      () => {
        load("callee");
        w.set(which);
        load("lanes");
        w.set(bits);
      },
      () => {
        prepare();
        w.assign([
          { local: which, value: callee },
          { local: bits, value: laneBits(begun) },
        ]);
      },
    );
    storeWord(w, memory, "resumedFrame", wasm.local("i32", head));
    storeWord(w, memory, "suspendedFrame", wasm.i32(0));
    call(maskOfBits(wasm.local("i32", bits), quads), wasm.local("i32", which));
    pushWord(w, memory, "suspendedFrame");
    w.tee(head);
    w.if(() => {
      load("reason");
      w.i32(suspensionReason.yield);
      w.op("i32.eq");
      w.if(
        () => this.#caller.flow.pause("call in a loop", block, block, null),
        () => this.#caller.flow.pause("call at a barrier", block, block, null),
      );
    });
    w.release(which);
    w.release(bits);
  }

  #indirect(block: number, index: number, op: FileCallOp, target: Indirect, { lanes, decider }: Callers): void {
    const w = this.#writer;
    const { low, differ, store } = this.#address(target, lanes, decider);
    const targets = this.#graph.targetsOf(op);
    const distance = wasm.op("i32.sub", wasm.local("i32", low), wasm.i32(windows.function.start));
    const place = wasm.op("i32.shr_u", distance, wasm.i32(Math.log2(functionStride)));
    const bad = w.local("i32");
    w.assign([{ local: bad, value: differ }]);
    const number = w.local("i32");
    w.assign([{ local: number, value: place }]);
    const { unit } = this.#caller;
    const count = unit.facts.callables.list.length;
    const isNone = wasm.op(
      "i32.or",
      wasm.op("i32.ge_u", distance, wasm.i32(count * functionStride)),
      wasm.op("i32.and", wasm.local("i32", low), wasm.i32(functionStride - 1)),
    );
    w.value(isNone);
    w.if(
      () => w.assign([{ local: bad, value: wasm.i32(1) }]),
      () => {
        const { context, layout } = this.#caller.memory;
        w.value(wasm.op("i32.add", wasm.local("i32", context), wasm.local("i32", number)));
        w.memory("i32.load8_u", 1, layout.targets + targetTable(unit, targets) * count);
        w.op("i32.eqz");
        w.if(() => w.assign([{ local: bad, value: wasm.i32(1) }]));
      },
    );
    w.get(bad);
    w.if(() => {
      store();
      this.#caller.faults.raise(index, lanes);
    });
    if (targets.length > 0) this.#enter(block, index, op, lanes, targets, wasm.local("i32", number));
    for (const local of [low, bad, number]) w.release(local);
  }

  /**
   * The low half of the address that the callers have, in a local, and where they have different ones, or it has more, not 0. `store`
   * leaves what each of them has where the launcher finds it.
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

  /** Gives a routine its byte file, calls it, and takes back what it returns. `number`: which of several it is. */
  #enter(
    block: number,
    index: number,
    op: FileCallOp,
    lanes: readonly Wasm[],
    callees: readonly CompiledFunction[],
    number: Wasm | null,
  ): void {
    const w = this.#writer;
    const { callable, unit } = this.#caller;
    const { grfBytes } = callable.ir.file!;
    if (callees.some((f) => f.ir.file!.grfBytes !== grfBytes)) throw new Unsupported("routines of several platforms");
    const own = this.#base;
    const their = w.local("i32");
    // The files of kernels lie apart, those of all threads one behind the other; its subroutines run in them.
    const isKernel = callable.number === this.#graph.functions[0]!.number;
    w.assign([{ local: their, value: isKernel ? this.#callFiles : add(own, activationBytes(callable, unit.quads)) }]);
    const to = wasm.local("i32", their);
    const [arg, retval] = [argAt + op.argSize * grfBytes, retvalAt(grfBytes)];
    const behindArg = argAt + argRegisters * grfBytes;
    const prepare = (): void => {
      this.#copy(to, own, 0, arg);
      this.#clear(to, arg, behindArg);
      this.#copy(to, own, retval, retvalRegisters * grfBytes);
      this.#clear(own, argAt, behindArg);
    };
    const call = (begun: readonly Wasm[], callee: Wasm): void => {
      this.#tell(index, callees, callee, to);
      w.values([...this.#start(), ...begun]);
      if (number === null || callees.length === 1) w.call(functionName(callees[0]!));
      else {
        const { params, results } = wasmSignature({ params: [], returns: [], mayExit: false }, unit.quads);
        w.value(callee);
        w.callIndirect(unit.module.type(params, results));
      }
    };
    this.#begin(block, op, lanes, callees, number, { prepare, call });
    this.#copy(own, to, 0, argAt);
    this.#copy(own, to, retval, op.retvalSize * grfBytes);
    w.release(their);
  }

  /** Where the files of what the kernel calls begin: in common for all threads, if these do not wait in the middle of calls. */
  get #callFiles(): Wasm {
    const w = this.#writer;
    const { context, layout, unit } = this.#caller.memory;
    const files = add(wasm.local("i32", context), layout.callFiles);
    if (!this.#graph.suspendsInFunctions) return files;
    const first = w.local("i32");
    pushWord(w, this.#caller.memory, "first");
    w.set(first);
    const thread = wasm.op("i32.div_u", wasm.local("i32", first), wasm.i32(unit.shape.width!));
    const bytes = wasm.i32(calledBytes(this.#graph, unit.quads));
    return wasm.op("i32.add", files, wasm.op("i32.mul", thread, bytes));
  }

  /** Fills the entry of the shadow stack that the callee gets. */
  #tell(index: number, callees: readonly CompiledFunction[], number: Wasm, file: Wasm): void {
    const w = this.#writer;
    const { unit, frame } = this.#caller;
    const { entry, layout, siteOf } = this.#caller.memory;
    const set = (offset: number, value: Wasm): void => {
      w.get(entry);
      w.value(value);
      w.memory("i32.store", 4, layout.callBytes + offset);
    };
    set(callEntry.top, file);
    if (unit.stacks.isChecked) set(callEntry.room, frame.room);
    if (!callees.some((f) => unit.stacks.isTracked(f))) return;
    set(callEntry.site, wasm.i32(siteOf(index, null)));
    set(callEntry.callee, number);
  }

  /** What every function of the module is given first. */
  #start(): readonly Wasm[] {
    const { context, entry, layout } = this.#caller.memory;
    return [wasm.local("i32", context), add(wasm.local("i32", entry), layout.callBytes)];
  }

  /** Copies bytes of one file to the same place of another. All sizes are multiples of 16. */
  #copy(to: Wasm, from: Wasm, at: number, bytes: number): void {
    const w = this.#writer;
    for (let i = at; i < at + bytes; i += 16) {
      w.value(to);
      w.value(from);
      w.memory("v128.load", 16, i);
      w.memory("v128.store", 16, i);
    }
  }

  #clear(file: Wasm, from: number, to: number): void {
    const w = this.#writer;
    if (from >= to) return;
    w.values([add(file, from), wasm.i32(0), wasm.i32(to - from)]);
    w.memoryFill();
  }
}
