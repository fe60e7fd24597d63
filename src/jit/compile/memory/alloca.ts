import type { Instruction, Op } from "../../../ir/index.ts";
import { allLanes, type Chunk } from "../emit/chunk.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { vectorIn, vectorOf } from "../lanes/value.ts";
import { type FunctionContext, tellEntry } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import type { Frame } from "./frame.ts";

type AllocaOp = Extract<Op, { kind: "alloca" | "stack-save" | "stack-restore" }>;

/**
 * Dynamic allocation on the stacks of lanes (`alloca`, `stacksave`, `stackrestore`), of which the launcher keeps
 * account.
 */
export class Alloca {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #frame: Frame;

  constructor(chunk: Chunk, context: FunctionContext, frame: Frame) {
    this.#chunk = chunk;
    this.#context = context;
    this.#frame = frame;
  }

  perform(block: number, index: number, { dst, guard }: Instruction, op: AllocaOp): void {
    const { writer: w, quads, function: f } = this.#chunk;
    const { context, layout, siteOf, unit } = this.#context;
    const holds = guard === null ? null : this.#chunk.guardMask(guard);
    importHost(unit.module, "stack");
    const operand = op.kind === "alloca" ? op.size : op.kind === "stack-restore" ? op.value : null;
    const parts =
      operand === null ? [] : vectorOf(fitted(this.#chunk.value(operand), "b64", quads), quads).quads.flat();
    parts.forEach((part, p) => {
      w.get(context);
      w.value(part);
      w.memory("v128.store", 16, layout.addresses + 16 * p);
    });
    tellEntry(w, this.#context);
    w.get(context);
    w.i32(siteOf(index, null));
    w.value(laneBits(this.#chunk.maskOf(block, holds) ?? allLanes(this.#chunk)));
    callHost(w, "stack");
    if (op.kind === "alloca") this.#frame.reload(this.#context);
    const [to] = dst;
    if (typeof to !== "number") return;
    const locals = Array.from({ length: 2 * quads }, () => w.local("v128"));
    locals.forEach((local, p) => {
      w.get(context);
      w.memory("v128.load", 16, layout.values + 16 * p);
      w.set(local);
    });
    this.#chunk.write(block, dst, [fitted(vectorIn("i64", locals), f.registers[to]!.class, quads)], holds);
    for (const local of locals) w.release(local);
  }
}
