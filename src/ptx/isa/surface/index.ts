import type { Gate } from "../define.ts";
import { form, instruction } from "../define.ts";

const unimplemented = "surfaces are not modelled yet";

const clamps = ["trap", "clamp", "zero"] as const;
const geometries = ["1d", "2d", "3d", "a1d", "a2d"] as const;
const dataTypes = ["b8", "b16", "b32", "b64"] as const;

const second: Gate = { since: "2.0", target: "sm_20" };
const third: Gate = { since: "3.0", target: "sm_20" };
const gates = { clamp: second, zero: second, cg: second, cs: second, "3d": third, a1d: third, a2d: third };

/** Section 9.7.11.1. */
const suld = instruction("suld", {
  summary: "loads from a surface",
  section: "9.7.11.1",
  forms: [
    form("suld.b.geom{.cop}{.vec}.dtype.clamp d, [a,b]", {
      where: {
        geom: geometries,
        cop: ["ca", "cg", "cs", "cv"],
        vec: ["v2", "v4"],
        dtype: dataTypes,
        clamp: clamps,
      },
      operands: { d: "dtype[vec?]" },
      since: "1.5",
      gates: { ...gates, ca: second, cv: second },
      unimplemented,
    }),
  ],
});

/** Section 9.7.11.2. */
const sust = instruction("sust", {
  summary: "stores to a surface",
  section: "9.7.11.2",
  forms: [
    form("sust.b.geom{.cop}{.vec}.ctype.clamp [a,b], c", {
      where: {
        geom: geometries,
        cop: ["wb", "cg", "cs", "wt"],
        vec: ["v2", "v4"],
        ctype: dataTypes,
        clamp: clamps,
      },
      operands: { c: "ctype[vec?]" },
      since: "1.5",
      gates: { ...gates, wb: second, wt: second },
      unimplemented,
    }),
    form("sust.p.geom{.vec}.b32.clamp [a,b], c", {
      where: { geom: ["1d", "2d", "3d"], vec: ["v2", "v4"], clamp: clamps },
      operands: { c: "b32[vec?]" },
      since: "2.0",
      target: "sm_20",
      unimplemented,
    }),
  ],
});

const long: Gate = { since: "8.1", target: "sm_50" };
const operations = ["add", "min", "max", "and", "or"] as const;
const typesOf = {
  add: ["u32", "u64", "s32"],
  min: ["u32", "s32", "u64", "s64"],
  max: ["u32", "s32", "u64", "s64"],
  and: ["b32"],
  or: ["b32"],
} as const;

/** Section 9.7.11.3. */
const sured = instruction("sured", {
  summary: "updates an element of a surface atomically",
  section: "9.7.11.3",
  forms: [
    form("sured.b.op.geom.ctype.clamp [a,b], c", {
      where: { op: operations, geom: ["1d", "2d", "3d"], ctype: ["u32", "u64", "s32", "b32", "s64"], clamp: clamps },
      operands: { c: "ctype" },
      since: "2.0",
      target: "sm_20",
      gates: { "min+u64": long, "max+u64": long, s64: long },
      invalid: ({ op, ctype }) =>
        (typesOf[op] as readonly string[]).includes(ctype) ? null : `'.${op}' does not take '.${ctype}'`,
      unimplemented,
    }),
    form("sured.p.op.geom.ctype.clamp [a,b], c", {
      where: { op: operations, geom: ["1d", "2d", "3d"], ctype: ["b32", "b64"], clamp: clamps },
      operands: { c: "ctype" },
      since: "2.0",
      target: "sm_20",
      gates: { b64: long },
      invalid: ({ op, ctype }) =>
        ctype === "b64" && op !== "min" && op !== "max" ? "'.b64' takes only '.min' and '.max'" : null,
      unimplemented,
    }),
  ],
});

/** Section 9.7.11.4. */
const suq = instruction("suq", {
  summary: "reads an attribute of a surface",
  section: "9.7.11.4",
  forms: [
    form("suq.query.b32 d, [a]", {
      where: {
        query: ["width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout"],
      },
      operands: { a: "address any" },
      since: "1.5",
      gates: {
        channel_data_type: { since: "2.1" },
        channel_order: { since: "2.1" },
        array_size: { since: "4.1" },
        memory_layout: { since: "4.2" },
      },
      unimplemented,
    }),
  ],
});

export const surfaceInstructions = [suld, sust, sured, suq];
