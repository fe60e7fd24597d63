const head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/** A module with these items, for the examples in the catalogue. */
export const module = (items: string): string => `${head}${items}\n`;

/**
 * A module with these items and a kernel with this body, which has registers a and b (.u32), l (.b64), f (.f32), p
 * (.pred).
 */
export const kernel = (body: string, items = ""): string =>
  module(
    `${items === "" ? "" : `${items}\n`}.visible .entry k(.param .u64 out)\n{\n    .reg .u32 a, b;\n    .reg .b64 l;\n    .reg .f32 f;\n    .reg .pred p;\n    ${body}\n    ret;\n}`,
  );
