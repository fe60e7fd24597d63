import type { Instruction } from "../../ir/index.ts";
import { locationOf } from "../../machine/faults/report-sink.ts";
import type { Allocation, HeapOrigin } from "../../machine/memory/allocation.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Report } from "../../machine/reports/report.ts";

const maxThreads = 32;

/** Warns of memory that device code took with `malloc` and did not free, once for each call site. */
export function leaksOf(memory: DeviceMemory): Report[] {
  const byCall = new Map<Instruction, Allocation[]>();
  for (const offset of memory.heap) {
    const allocation = memory.find(offset);
    const call = allocation?.origin?.instruction;
    if (!allocation || !call) continue;
    const here = byCall.get(call);
    if (here === undefined) byCall.set(call, [allocation]);
    else here.push(allocation);
  }
  return [...byCall.values()].map(reportOf);
}

function reportOf(lost: readonly Allocation[]): Report {
  const origins = lost.map(({ origin }) => origin as HeapOrigin);
  const { function: ir, instruction, kernel, stack } = origins[0]!;
  const { span } = instruction;
  const bytes = lost.reduce((sum, { start, end }) => sum + end - start, 0);
  const message =
    lost.length === 1
      ? `the ${bytes} bytes that malloc gives here are never freed`
      : `what malloc gives here ${lost.length} times is never freed, ${bytes} bytes together`;
  return {
    code: "memory-leak",
    severity: "warning",
    message,
    help: "free it in the kernel, or in one that is launched later",
    kernel,
    source: ir.source,
    span,
    location: locationOf(ir, instruction),
    threads: origins.slice(0, maxThreads).map(({ thread }) => thread),
    count: lost.length,
    stack: stack.length > 0 ? stack : [{ function: ir.name, source: ir.source, span }],
    notes: [],
  };
}
