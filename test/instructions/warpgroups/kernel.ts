import { type Candidate, instructionSet } from "../../../src/ptx/isa/index.ts";
import type { Case, Prepared } from "./model.ts";
import { bitsOf } from "./formats.ts";
import { depthOf } from "./model.ts";

/** The opcode of a product. */
export function opcodeOf(c: Case): string {
  const shape = `m64n${c.n}k${depthOf(c)}`;
  const sparse = c.selector === null ? "" : ".sp";
  const types = c.a === "b1" ? "s32.b1.b1.and.popc" : `${c.d}.${c.a}.${c.b}`;
  return `wgmma.mma_async${sparse}.sync.aligned.${shape}${c.satfinite === true ? ".satfinite" : ""}.${types}`;
}

/** The rows of the table that the kernels exercise. */
export const candidatesOf = (cases: readonly Case[]): Candidate[] => [
  ...cases.map((c) => {
    const operand = c.left === null ? "a" : "a_desc";
    const { candidates } = instructionSet.resolve(opcodeOf(c));
    return candidates.find(({ operands }) => operands.some(({ name }) => name === operand))!;
  }),
  ...["fence", "commit_group", "wait_group"].flatMap(
    (name) => instructionSet.resolve(`wgmma.${name}.sync.aligned`).candidates,
  ),
];

const list = (name: string, count: number): string =>
  `{${Array.from({ length: count }, (_, i) => `%${name}${i}`).join(", ")}}`;

/** The immediates at the end: signs of floats, and majorness of 16-bit types in shared memory. */
function immediates({ a, left, right, negate = [false, false] }: Case): string {
  if (["b1", "s8", "u8"].includes(a)) return "";
  const signs = negate.map((negated) => (negated ? ", -1" : ", 1")).join("");
  if (bitsOf(a) !== 16) return signs;
  const transposes = [left, right].flatMap((at) => (at === null ? [] : [at.kMajor ? ", 0" : ", 1"]));
  return signs + transposes.join("");
}

/** Words of each thread: four of A, if it is in registers, then C, then the metadata. */
export function inputWords(c: Case, { registersOfA, registersOfC, metadata }: Prepared): Uint32Array {
  const words = registersOfC.flatMap((own, thread) => [
    ...(c.left === null ? registersOfA[thread]! : []),
    ...own,
    ...(c.selector === null ? [] : [metadata[thread]!]),
  ]);
  return Uint32Array.from(words);
}

/**
 * A kernel that copies the image of shared memory, loads the registers, multiplies, and stores the registers of D:
 * arguments are the image, the registers' words, and where D goes.
 */
export function kernelText(name: string, c: Case, { descriptors, registersOfD }: Prepared): string {
  const count = registersOfD[0]!.length;
  const [firstC, last] = c.left === null ? [4, 4 + count] : [0, count];
  const words = last + (c.selector === null ? 0 : 1);
  const load = (register: string, word: number): string => `    ld.global.b32 ${register}, [%in+${4 * word}];`;
  const descriptor = (to: string, fields: bigint): string => `    add.s64 ${to}, %base, ${BigInt.asIntN(64, fields)};`;
  const [a, b] = descriptors;
  const sources = [
    list("d", count),
    a === null ? list("a", 4) : "%da",
    "%db",
    ...(c.selector === null ? [] : ["%meta", String(c.selector)]),
    c.scale ?? "1",
  ];
  return [
    `.visible .entry ${name}(.param .u64 image, .param .u64 words, .param .u64 out) {`,
    "    .reg .b64 %im, %in, %out, %base, %da, %db;",
    `    .reg .b32 %t, %s, %end, %meta, %w<4>, %a<4>, %d<${count}>;`,
    "    .reg .pred p, q, more;",
    "    ld.param.u64 %im, [image];",
    "    ld.param.u64 %in, [words];",
    "    ld.param.u64 %out, [out];",
    "    mov.u32 %t, %tid.x;",
    `    mad.wide.u32 %in, %t, ${4 * words}, %in;`,
    `    mad.wide.u32 %out, %t, ${4 * count}, %out;`,
    "    mad.wide.u32 %im, %t, 16, %im;",
    "    mov.u32 %s, buf;",
    "    add.u32 %end, %s, 49152;",
    "    shl.b32 %meta, %t, 4;",
    "    add.u32 %s, %s, %meta;",
    `${name}_copy:`,
    "    ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%im];",
    "    st.shared.v4.b32 [%s], {%w0, %w1, %w2, %w3};",
    "    add.u64 %im, %im, 2048;",
    "    add.u32 %s, %s, 2048;",
    "    setp.lt.u32 more, %s, %end;",
    `@more bra ${name}_copy;`,
    "    fence.proxy.async.shared::cta;",
    "    bar.sync 0;",
    ...(c.left === null ? [0, 1, 2, 3].map((i) => load(`%a${i}`, i)) : []),
    ...Array.from({ length: count }, (_, i) => load(`%d${i}`, firstC + i)),
    ...(c.selector === null ? [] : [load("%meta", last)]),
    "    setp.eq.u32 p, %t, %t;",
    "    setp.ne.u32 q, %t, %t;",
    "    mov.u32 %s, buf;",
    "    and.b32 %s, %s, 0x3ffff;",
    "    shr.u32 %s, %s, 4;",
    "    cvt.u64.u32 %base, %s;",
    ...(a === null ? [] : [descriptor("%da", a)]),
    descriptor("%db", b),
    "    wgmma.fence.sync.aligned;",
    `    ${opcodeOf(c)} ${sources.join(", ")}${immediates(c)};`,
    "    wgmma.commit_group.sync.aligned;",
    "    wgmma.wait_group.sync.aligned 0;",
    ...Array.from({ length: count }, (_, i) => `    st.global.b32 [%out+${4 * i}], %d${i};`),
    "    ret;",
    "}",
  ].join("\n");
}

/** A module of kernels. */
export const moduleText = (kernels: readonly string[]): string =>
  [".version 9.0", ".target sm_90a", ".address_size 64", ".shared .align 1024 .b8 buf[49152];", ...kernels].join("\n");
