import { expect, test } from "vitest";
import { encodeTensorMap, type TensorMap } from "../../src/program/tensor/tensor-map.ts";
import { Device } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * tensormap.replace with every field and state space: 128 bytes of zeros become the map that says the same. Numbers of
 * types, swizzles and modes are those of table 33 (section 9.7.9.28), not those of the driver's enumerations.
 */

interface Change {
  readonly words: string;
  readonly operands: string;
}

const field = (name: string, type: "b32" | "b64") => (operands: string) => ({ words: `${name}`, type, operands });

const changes = (ss: string): Change[] => {
  const all = [
    field("global_address", "b64")("%i"),
    field("rank", "b32")("2"),
    ...[40, 30, 20].map((n, d) => field("global_dim", "b32")(`${d}, ${n}`)),
    ...[160, 4800].map((n, d) => field("global_stride", "b64")(`${d}, ${n}`)),
    ...[8, 4, 2].map((n, d) => field("box_dim", "b32")(`${d}, ${n}`)),
    ...[1, 2, 1].map((n, d) => field("element_stride", "b32")(`${d}, ${n}`)),
    field("elemtype", "b32")("11"),
    field("interleave_layout", "b32")("0"),
    field("swizzle_mode", "b32")("3"),
    field("swizzle_atomicity", "b32")("2"),
    field("fill_mode", "b32")("1"),
  ];
  return all.map(({ words, type, operands }) => ({
    words: `tensormap.replace.tile.${words}${ss}.b1024.${type}`,
    operands,
  }));
};

const kernel = (ss: "" | ".global" | ".shared::cta"): string => `.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 map, .param .u64 out)
{
  .reg .b64 %i, %m, %o; .reg .b32 %s, %v;
  .shared .align 128 .b8 own[128];
  ld.param.u64 %i, [in]; ld.param.u64 %m, [map]; ld.param.u64 %o, [out]; mov.b32 %s, own;
  ${Array.from({ length: 32 }, (_, i) => `st.shared.b32 [%s+${4 * i}], 0;`).join(" ")}
  ${changes(ss)
    .map(({ words, operands }) => `${words} [${ss === ".shared::cta" ? "%s" : "%m"}], ${operands};`)
    .join("\n  ")}
  ${Array.from({ length: 32 }, (_, i) => {
    const from = ss === ".shared::cta" ? `ld.shared.b32 %v, [%s+${4 * i}]` : `ld.global.b32 %v, [%m+${4 * i}]`;
    return `${from}; st.global.b32 [%o+${4 * i}], %v;`;
  }).join(" ")}
  ret;
}
`;

test.each(usualEngines)("%s: every field, in every state space", (engine) => {
  for (const ss of ["", ".global", ".shared::cta"] as const) {
    const device = new Device({ engine });
    const [input, map, out] = [device.buffer("f32", 24_000), device.buffer("u32", 32), device.buffer("u8", 128)];
    const result = device
      .load(kernel(ss))
      .kernel("k")
      .launch({ grid: 1, block: 1, args: [input, map, out] });
    expect(result.reports).toEqual([]);
    const expected: TensorMap = {
      type: "tf32",
      globalAddress: input.address,
      globalDim: [40, 30, 20],
      globalStrides: [160, 4800],
      box: { mode: "tiled", size: [8, 4, 2] },
      elementStrides: [1, 2, 1],
      interleave: "none",
      swizzle: "128B_atom_32B_flip_8B",
      l2Promotion: "none",
      oobFill: "nan",
    };
    expect([...out.readBytes()]).toEqual([...encodeTensorMap(expected)]);
  }
});
