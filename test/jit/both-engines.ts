import { expect } from "vitest";
import { Device, type KernelArgument, type Report, struct } from "../../src/index.ts";

export interface PtxCase {
  /** A module with a kernel `k`. */
  readonly text: string;
  /** The kernel's first parameters: pointers to buffers with these bytes. */
  readonly buffers: readonly Uint8Array[];
  /** Bytes of a parameter after them. */
  readonly blob?: Uint8Array;
  readonly launch: {
    readonly grid: number | readonly [number, number] | readonly [number, number, number];
    readonly block: number | readonly [number, number];
    readonly shared?: number;
    readonly hostThreads?: number;
  };
  /** What the host does before, with the buffers. */
  readonly before?: (device: Device, buffers: readonly ReturnType<Device["buffer"]>[]) => void;
}

const found = ({ code, message, source, span, threads, count, notes }: Report) => ({
  code,
  message,
  line: source.position(span.start).line,
  threads,
  count,
  notes,
});

/** Compiled code for first launches, and that for later ones of kernels that have run for long. */
type Compiled = "jit" | "native";

function outcomeOf({ text, buffers: contents, blob, launch, before }: PtxCase, engine: "interpreter" | Compiled) {
  const device = new Device();
  const kernel = device.load(text).kernel("k");
  const buffers = contents.map((bytes) => device.buffer(bytes));
  before?.(device, buffers);
  const args: KernelArgument[] = blob === undefined ? [...buffers] : [...buffers, struct(blob)];
  const result = kernel.launch({ ...launch, args, engine });
  expect(result.engine).toBe(engine === "interpreter" ? engine : "jit");
  return { reports: result.reports.map(found), read: () => buffers.map((b) => b.readBytes()) };
}

/** Expects compiled code to leave the same in the buffers as the interpreter does, without any report. Returns them. */
export function expectSameResults(c: PtxCase, engine: Compiled = "jit"): readonly Uint8Array[] {
  const [wanted, compiled] = [outcomeOf(c, "interpreter"), outcomeOf(c, engine)];
  expect(wanted.reports).toEqual([]);
  expect(compiled.reports).toEqual([]);
  const [want, got] = [wanted.read(), compiled.read()];
  want.forEach((bytes, i) => {
    const at = bytes.findIndex((byte, j) => byte !== got[i]![j]);
    expect(at, `byte ${at} of buffer ${i} is ${got[i]![at]}, not ${bytes[at]}`).toBe(-1);
  });
  return got;
}

/** Expects compiled code to report what the interpreter does, and returns that. */
export function expectSameReports(c: PtxCase): readonly ReturnType<typeof found>[] {
  const { reports } = outcomeOf(c, "jit");
  expect(reports).toEqual(outcomeOf(c, "interpreter").reports);
  return reports;
}
