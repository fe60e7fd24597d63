import { describe, expect, test } from "vitest";
import { readZeInfo } from "../../../src/runtime/visa/zeinfo.ts";

/** A kernel of IGC 1.0.12504 for SKL, SIMD 16, in the shape that YAML gives it. */
const saxpy = {
  name: "saxpy",
  execution_env: { grf_count: 128, simd_size: 16, slm_size: 1024, required_work_group_size: [16, 1, 1] },
  payload_arguments: [
    { arg_type: "global_id_offset", offset: 0, size: 12 },
    { arg_type: "arg_bypointer", offset: 0, size: 0, arg_index: 0, addrmode: "stateful", addrspace: "global" },
    { arg_type: "arg_byvalue", offset: 48, size: 4, arg_index: 1 },
    { arg_type: "arg_byvalue", offset: 64, size: 16, arg_index: 2, source_offset: 4 },
  ],
  per_thread_payload_arguments: [{ arg_type: "local_id", offset: 0, size: 96 }],
  binding_table_indices: [{ bti_value: 0, arg_index: 0 }],
  per_thread_memory_buffers: [{ type: "global", usage: "private_space", size: 96, is_simt_thread: true }],
};
const misc = {
  name: "saxpy",
  args_info: [
    { index: 0, name: "y", type_name: "float*;8" },
    { index: 1, name: "a", type_name: "float;4" },
    { index: 2, name: "v", type_name: "uint4;16" },
  ],
};
const document = (change: object = {}): object => ({
  version: "1.20",
  kernels: [{ ...saxpy, ...change }],
  kernels_misc_info: [misc],
});

test("the fields that a launch needs are read", () => {
  expect(readZeInfo(document()).get("saxpy")).toMatchObject({
    simd: 16,
    slmBytes: 1024,
    inlineBytes: 0,
    requiredLocalSize: [16, 1, 1],
    walkOrder: [0, 1, 2],
    bindings: [{ index: 0, argument: 0 }],
    memory: [{ type: "global", bytes: 96, perLane: true }],
    args: [
      { name: "y", type: null, elements: 1, bytes: 8, pointsTo: "f32" },
      { name: "a", type: "f32", elements: 1, bytes: 4 },
      { name: "v", type: "u32", elements: 4, bytes: 16 },
    ],
  });
  expect(readZeInfo(document()).get("saxpy")!.payload[3]).toMatchObject({ argument: 2, sourceOffset: 4 });
});

test("names and types of arguments may be missing", () => {
  const { kernels_misc_info: _, ...rest } = document() as { kernels_misc_info: object };
  expect(readZeInfo(rest).get("saxpy")!.args).toEqual(
    [0, 1, 2].map(() => ({ name: "", type: null, elements: 1, bytes: null })),
  );
});

describe("errors have the path of the value", () => {
  test.each([
    [null, ".ze_info: expected a mapping, found nothing"],
    [[], ".ze_info: expected a mapping, found a list"],
    [{}, ".ze_info: kernels: is missing; expected a list of kernels"],
    [{ kernels: {} }, ".ze_info: kernels: expected a list, found a mapping"],
    [{ kernels: [{}] }, ".ze_info: kernels[0].name: is missing; expected a string"],
    [{ kernels: [{ name: "k" }] }, ".ze_info: kernels[0].execution_env: is missing; expected a mapping"],
    [{ kernels: [{ ...saxpy, name: 3 }] }, ".ze_info: kernels[0].name: expected a string, found a number"],
    [
      document({ execution_env: { simd_size: 12 } }),
      ".ze_info: kernels[0].execution_env.simd_size: 12 lanes are not possible: 1, 8, 16 or 32 are",
    ],
    [
      document({ payload_arguments: [{ arg_type: "arg_byvalue", offset: -4, size: 4 }] }),
      ".ze_info: kernels[0].payload_arguments[0].offset: -4 is not from 0 to 65536",
    ],
    [
      document({ payload_arguments: [{ arg_type: "arg_bypointer", offset: 0, size: 8, addrmode: "near" }] }),
      '.ze_info: kernels[0].payload_arguments[0].addrmode: there is no "near"; there are stateful, stateless, bindless, slm',
    ],
    [
      document({ per_thread_memory_buffers: [{ type: "scratch", usage: "single_space", size: 4, is_simt_thread: 1 }] }),
      ".ze_info: kernels[0].per_thread_memory_buffers[0].is_simt_thread: expected true or false, found a number",
    ],
  ])("%j", (value, message) => expect(() => readZeInfo(value)).toThrow(message));
});

const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test.each([
  [
    { payload_arguments: many(5000, saxpy.payload_arguments[0]) },
    "payload_arguments: has 5000 entries; there can be 4096",
  ],
  [
    { per_thread_payload_arguments: many(4000, { arg_type: "local_id", offset: 0, size: 96 }) },
    "per_thread_payload_arguments: takes 384000 bytes of registers; there can be 65536",
  ],
  [
    { execution_env: { simd_size: 16, inline_data_payload_size: 1_000_000 } },
    "execution_env.inline_data_payload_size: 1000000 is not from 0 to 65536",
  ],
])("what no launch could hold is refused", (change, message) => {
  expect(() => readZeInfo(document(change))).toThrow(`.ze_info: kernels[0].${message}`);
});
