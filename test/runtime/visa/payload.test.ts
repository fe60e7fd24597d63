import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { AddressSpace } from "../../../src/machine/memory/address-space.ts";
import { DeviceMemory } from "../../../src/machine/memory/memory.ts";
import type { Dim3 } from "../../../src/machine/reports/report.ts";
import type { ThreadStart } from "../../../src/machine/state/thread-model.ts";
import { Device } from "../../../src/runtime/index.ts";
import type { ArgumentValue } from "../../../src/runtime/visa/arguments.ts";
import { LaunchMemory } from "../../../src/runtime/visa/launch-memory.ts";
import { compiledPayload, localOffsets, payloadPlace } from "../../../src/runtime/visa/payload.ts";
import { ThreadMemory } from "../../../src/runtime/visa/thread-memory.ts";
import { workSize } from "../../../src/runtime/visa/work-size.ts";
import { type KernelInfo, readZeInfo } from "../../../src/runtime/visa/zeinfo.ts";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { present, visaJobs } from "./visa-jobs.ts";

const info = (kernel: object): KernelInfo =>
  readZeInfo({ kernels: [{ name: "k", execution_env: { simd_size: 16 }, ...kernel }] }).get("k")!;

const localIds = (size: number) => [{ arg_type: "local_id", offset: 0, size }];
const item = (arg_type: string, offset: number, size: number, more: object = {}) => ({
  arg_type,
  offset,
  size,
  ...more,
});

interface Case {
  readonly kernel: KernelInfo;
  readonly grfBytes?: 32 | 64;
  readonly global?: Dim3;
  readonly local?: Dim3;
  readonly args?: readonly ArgumentValue[];
  readonly inputs?: readonly number[];
}

/** The initial registers of a thread. */
function registers(
  { kernel, grfBytes = 32, local = [32, 1, 1], global = local, args = [], inputs = [] }: Case,
  thread: Partial<ThreadStart> = {},
): DataView {
  const width = kernel.simd;
  const size = workSize("k", global, local);
  const memory = new LaunchMemory(new DeviceMemory());
  const threads = new ThreadMemory(memory, size, { width, privateBytes: 0, scratchBytes: 0, scratch: "offset" });
  const data = { const_base: { address: 0x3000n, bytes: 64 }, global_base: { address: 0x4000n, bytes: 64 } };
  const payload = compiledPayload(kernel, {
    width,
    grfBytes,
    inputs,
    size,
    args,
    threads,
    printfBuffer: 0x2000n,
    data,
  });
  const start = { group: [0, 0, 0], index: 0, serial: 0, slot: 0, lanes: -1, localIds: new Int32Array(96) } as const;
  return payload.of({ ...start, ...thread });
}

const words = (view: DataView, at: number, n: number): number[] =>
  Array.from({ length: n }, (_, i) => view.getUint32(at + 4 * i, true));

const shorts = (view: DataView, at: number, n: number): number[] =>
  Array.from({ length: n }, (_, i) => view.getUint16(at + 2 * i, true));

test("r0 has the number of the group in its dwords 1, 6 and 7", () => {
  const view = registers({ kernel: info({}) }, { group: [3, 5, 7] });
  expect([1, 6, 7].map((i) => words(view, 4 * i, 1)[0])).toEqual([3, 5, 7]);
});

describe("local ids", () => {
  test("are vectors of 16 bits, each padded to a register", () => {
    const kernel = info({ per_thread_payload_arguments: localIds(96) });
    const view = registers({ kernel, global: [8, 4, 2], local: [8, 4, 2] }, { index: 1 });
    // Items 16 to 31 of groups of 8 x 4 x 2.
    expect(shorts(view, 32, 16)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    expect(shorts(view, 64, 16)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
    expect(shorts(view, 96, 16)).toEqual(Array.from({ length: 16 }, () => 0));
    expect(shorts(registers({ kernel, global: [8, 4, 2], local: [8, 4, 2] }, { index: 2 }), 96, 2)).toEqual([1, 1]);
  });

  test("of 8 lanes fill half a register, of 32 lanes two", () => {
    const eight = info({ execution_env: { simd_size: 8 }, per_thread_payload_arguments: localIds(96) });
    expect(shorts(registers({ kernel: eight, local: [4, 8, 1] }), 64, 8)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    const wide = info({ execution_env: { simd_size: 32 }, per_thread_payload_arguments: localIds(192) });
    expect(shorts(registers({ kernel: wide, local: [16, 2, 1] }), 96, 32).slice(15, 17)).toEqual([0, 1]);
    expect(shorts(registers({ kernel: wide, grfBytes: 64, local: [16, 2, 1] }), 128, 32).slice(15, 17)).toEqual([0, 1]);
  });

  test("IGC 2.40 passes the dimensions that are used", () => {
    const kernel = info({
      per_thread_payload_arguments: localIds(64),
      payload_arguments: [item("work_dimensions", 0, 4)],
    });
    const view = registers({ kernel, grfBytes: 64 });
    expect(shorts(view, 64, 3)).toEqual([0, 1, 2]);
    expect(words(view, 128, 1)).toEqual([1]);
  });

  test("in another order if the kernel asks for it", () => {
    const kernel = info({
      execution_env: { simd_size: 16, work_group_walk_order_dimensions: [1, 0, 2] },
      per_thread_payload_arguments: localIds(96),
    });
    const view = registers({ kernel, global: [4, 8, 1], local: [4, 8, 1] });
    expect(shorts(view, 32, 16)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect(shorts(view, 64, 9)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 0]);
  });
});

describe("the place of a payload", () => {
  const perThread = { per_thread_payload_arguments: localIds(64) };
  const inline = { execution_env: { simd_size: 16, inline_data_payload_size: 32 } };
  const ids = info({ ...perThread, ...inline });

  // Each as in a dump of IGC; `inputs` are those after the per-thread values.
  test.each([
    ["after r0 and the local ids", info({ per_thread_payload_arguments: localIds(96) }), 32, [128], 128, 128],
    ["after an empty register without local ids", info({}), 32, [64], 64, 64],
    ["which threads that load it themselves do not have", info({}), 64, [64], 64, 64],
    ["nor with inline data", info(inline), 32, [32, 64], 32, 64],
    ["all in inline data", ids, 64, [128, 136], 128, 192],
    ["after the hole that inline data leaves in registers of 64 bytes", ids, 64, [128, 152, 192], 128, 192],
    ["after inline data that fill a register", ids, 32, [96, 128], 96, 128],
    ["aligned for a long16 that comes first after inline data", ids, 64, [128, 152, 256, 384], 128, 256],
  ] as const)("%s", (_, kernel, grfBytes, inputs, start, rest) =>
    expect(payloadPlace(kernel, grfBytes, inputs)).toEqual({ start, rest }),
  );

  test("a value may begin as inline data and end in registers", () => {
    const kernel = info({ ...inline, payload_arguments: [item("arg_byvalue", 28, 8, { arg_index: 0 })] });
    const bytes = new Uint8Array(new Uint32Array([7, 8]).buffer);
    const view = registers({ kernel, grfBytes: 64, inputs: [92, 128], args: [{ kind: "value", bytes }] });
    expect([words(view, 92, 1), words(view, 96, 1), words(view, 128, 1)]).toEqual([[7], [0], [8]]);
  });
});

describe("values", () => {
  const address = new AddressSpace(64).global(0x1_0000);
  const pointer: ArgumentValue = { kind: "pointer", address, bytes: 64 };
  const value = (...bytes: number[]): ArgumentValue => ({ kind: "value", bytes: Uint8Array.from(bytes) });

  test("of the launch", () => {
    const kernel = info({
      payload_arguments: [
        item("global_id_offset", 0, 12),
        item("local_size", 12, 12),
        item("group_count", 24, 12),
        item("global_size", 36, 12),
        item("enqueued_local_size", 48, 12),
        item("work_dimensions", 60, 4),
        item("printf_buffer", 64, 8),
        item("const_base", 72, 8),
      ],
    });
    const view = registers({ kernel, global: [8, 6, 1], local: [4, 2, 1] });
    expect(words(view, 64, 16)).toEqual([0, 0, 0, 4, 2, 1, 2, 3, 1, 8, 6, 1, 4, 2, 1, 2]);
    expect([view.getBigUint64(128, true), view.getBigUint64(136, true)]).toEqual([0x2000n, 0x3000n]);
  });

  test("of arguments", () => {
    const kernel = info({
      payload_arguments: [
        item("arg_bypointer", 0, 8, { arg_index: 0, addrmode: "stateless" }),
        item("arg_bypointer", 0, 0, { arg_index: 0, addrmode: "stateful" }),
        item("buffer_address", 8, 8, { arg_index: 0 }),
        item("buffer_offset", 16, 4, { arg_index: 0 }),
        item("arg_byvalue", 20, 4, { arg_index: 1, source_offset: 2 }),
        item("arg_byvalue", 24, 2, { arg_index: 1, source_offset: 0 }),
      ],
    });
    const view = registers({ kernel, args: [pointer, value(1, 2, 3, 4, 5)] });
    expect([view.getBigUint64(64, true), view.getBigUint64(72, true)]).toEqual([address, address]);
    expect(words(view, 80, 2)).toEqual([0, 0x0005_0403]);
    expect(view.getUint16(88, true)).toBe(0x0201);
  });

  test("of local memory, after what the kernel declares", () => {
    const kernel = info({
      execution_env: { simd_size: 16, slm_size: 100 },
      payload_arguments: [
        item("arg_bypointer", 0, 8, { arg_index: 0, addrmode: "slm", slm_alignment: 16 }),
        item("arg_bypointer", 8, 4, { arg_index: 1, addrmode: "slm", slm_alignment: 4 }),
      ],
    });
    const args = [
      { kind: "local", bytes: 10 },
      { kind: "local", bytes: 8 },
    ] as const;
    expect(words(registers({ kernel, args }), 64, 3)).toEqual([112, 0, 124]);
    expect(localOffsets(kernel, args).end).toBe(132);
  });
});

describe.skipIf(!present)("dumps of IGC", () => {
  test.each(visaJobs("kernels").map((file) => [file.job.id, file] as const))(
    "every input of %s lies where its .ze_info says",
    (_, { job, files }) => {
      const text = new TextDecoder();
      for (const [name, { zeinfo, platform }] of job.visa!.variants) {
        const path = job.variants.get(name)![0]!;
        const { tree } = parseVisa(new SourceText(path, text.decode(files.read(path))));
        const [routine] = bindVisa(tree, { platform });
        const kernel = readZeInfo(parse(text.decode(files.read(zeinfo!)))).get(routine!.name)!;
        const { grfBytes, inputs } = routine!;
        const place = payloadPlace(
          kernel,
          grfBytes,
          inputs.map(({ offset }) => offset),
        );
        const starts = [
          0,
          ...kernel.perThread.flatMap(({ offset, size }) =>
            Array.from({ length: size / 32 }, (_, i) => grfBytes + offset + 32 * i),
          ),
          ...kernel.payload
            .filter(({ size }) => size > 0)
            .map(
              ({ offset }) => offset + (offset < kernel.inlineBytes ? place.start : place.rest - kernel.inlineBytes),
            ),
        ];
        const stray = inputs.filter(({ offset }) => !starts.includes(offset));
        expect({ name, stray: stray.map(({ variable, offset }) => `${variable.name} at ${offset}`) }).toEqual({
          name,
          stray: [],
        });
      }
    },
  );
});

test("an input that extends beyond the payload is filled as far as the payload goes", () => {
  const text = `.version 3.6
.kernel "k"
.decl ID v_type=G type=uw num_elts=64 align=GRF
.decl FAR v_type=G type=ud num_elts=8 align=GRF
.input ID offset=96 size=128
.input FAR offset=4096 size=32
.function "m"
m:
    add (M1, 16) ID(0,0)<1> ID(0,0)<1;1,0> 1:uw
    add (M1, 8) FAR(0,0)<1> FAR(0,0)<1;1,0> 1:ud
    ret (M1, 1)
`;
  const zeinfo = {
    kernels: [
      {
        name: "k",
        execution_env: { simd_size: 16 },
        per_thread_payload_arguments: [{ arg_type: "local_id", offset: 0, size: 96 }],
      },
    ],
  };
  const kernel = new Device().load(text, { isa: "visa", zeinfo }).kernel("k");
  expect(kernel.launch({ global: 32, local: 32 }).ok).toBe(true);
});
