import type { Instruction, Op } from "../../../ir/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fullMask } from "../lanes/mask.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { vectorIn, vectorOf } from "../lanes/value.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import type { Frame } from "./frame.ts";

type StackOp = Extract<Op, { kind: "alloca" | "stack-save" | "stack-restore" }>;

/** Writes an operation on the stacks of lanes. */
export type StackWriter = (block: number, index: number, instruction: Instruction, op: StackOp) => void;

/**
 * Dynamic allocation on the stacks of lanes (`alloca`, `stacksave`, `stackrestore`), of which the launcher keeps
 * account.
 */
export const stackWriter =
  (chunk: Chunk, at: FunctionContext, frame: Frame): StackWriter =>
  (block, index, { dst, guard }, op) => {
    const { writer: w, quads, function: f } = chunk;
    const { context, layout, siteOf, unit } = at;
    const holds = guard === null ? null : chunk.guardMask(guard);
    importHost(unit.module, "stack");
    const operand = op.kind === "alloca" ? op.size : op.kind === "stack-restore" ? op.value : null;
    const parts = operand === null ? [] : vectorOf(fitted(chunk.value(operand), "b64", quads), quads).quads.flat();
    parts.forEach((part, p) => {
      w.get(context);
      w.value(part);
      w.memory("v128.store", 16, layout.addresses + 16 * p);
    });
    storeEntry(w, at);
    w.get(context);
    w.i32(siteOf(index, null));
    w.value(laneBits(chunk.maskOf(block, holds) ?? fullMask(chunk.quads)));
    callHost(w, "stack");
    if (op.kind === "alloca") frame.reload(at);
    const [to] = dst;
    if (typeof to !== "number") return;
    const locals = Array.from({ length: 2 * quads }, () => w.local("v128"));
    locals.forEach((local, p) => {
      w.get(context);
      w.memory("v128.load", 16, layout.values + 16 * p);
      w.set(local);
    });
    chunk.write(block, dst, [fitted(vectorIn("i64", locals), f.registers[to]!.class, quads)], holds);
    for (const local of locals) w.release(local);
  };
