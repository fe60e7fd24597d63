import { launch } from "../../../src/interpreter/index.ts";
import { loadProgram } from "../../../src/program/program.ts";
import { JitProgram } from "../../../src/jit/run/jit-program.ts";
import type { LaunchRequest, LaunchResult } from "../../../src/machine/launch.ts";
import { packArguments, struct } from "../../../src/runtime/data/argument.ts";
import { DeviceCore } from "../../../src/runtime/device/device-core.ts";
import type { Batch, Left } from "./batch.ts";
import { emptyByte } from "./layout.ts";

/** What executes a batch: the compiler, and the interpreter with expressions as generated loops and as closures. */
export const engines = ["compiled", "interpreted", "interpreted by closures"] as const;

export type Engine = (typeof engines)[number];

/** Null where the compiler leaves the batch to the interpreter. */
export function run(batch: Batch, engine: Engine): Left | null {
  const device = new DeviceCore();
  const { memory } = device;
  const program = loadProgram(memory, batch.module);
  const input = device.buffer(batch.input);
  const output = device.buffer(new Uint8Array(batch.outputBytes).fill(emptyByte));
  const areas = device.buffer(batch.memory);
  const kernel = batch.module.functions.find((f) => f.name === "k")!;
  const args = [input, output, areas, struct(batch.parameter)];
  const params = packArguments(kernel, args, { memory, addressSize: batch.module.addressSize });
  const blocks = [batch.cluster, 1, 1] as const;
  const clusters = batch.cluster === 1 ? {} : { cluster: blocks };
  const block = [batch.block, 1, 1] as const;
  const request: LaunchRequest = { kernel: "k", grid: blocks, ...clusters, block, sharedBytes: 0, params };
  const generate = engine !== "interpreted by closures";
  const result =
    engine === "compiled" ? compiled(new JitProgram(program), request) : launch(program, request, { generate });
  return (
    result && {
      reports: result.reports.map(({ code, message, source, span }) => ({
        code,
        message,
        line: source.position(span.start).line,
      })),
      output: output.readBytes(),
      memory: areas.readBytes(),
    }
  );
}

const compiled = (jit: JitProgram, request: LaunchRequest): LaunchResult | null =>
  jit.obstacleOf(request) === null ? jit.launch(request) : null;
