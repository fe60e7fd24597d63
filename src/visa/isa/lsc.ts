import type { Execution } from "./execution.ts";
import { anySize } from "./flow.ts";
import type { AtomicFunction } from "../../ir/index.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

/** `.ca.ca`: the caching policies of the first and the last level. */
const cache: OperandSpec = {
  class: "option",
  choices: { df: 0, uc: 1, ca: 2, wb: 3, wt: 4, st: 5, ri: 6, cc: 7 },
  byDefault: "df",
};
const sfid: OperandSpec = { class: "option", choices: { ugm: 0, ugml: 1, slm: 3 } };
const address: OperandSpec = { class: "lsc-address" };
const data = (role: "dst" | "src", shape: "vector" | "channels" | "block" = "vector"): OperandSpec => ({
  class: "lsc-data",
  role,
  shape,
});
/** A further register operand, which has the type of the data. */
const bare = (role: "dst" | "src"): OperandSpec => ({ class: "raw", role, bare: true });

const head = "exec pred sfid l1 l3";
const addressFields = "address.model address.scale:u16 address.offset:i32 address.size";
const dataFields = "data.size data.order data.elements data.channels";
const untyped = `${head} ${addressFields} ${dataFields} address.surface`;

type LscRow = Omit<Row, "opcode" | "sub" | "sizes" | "name"> & {
  readonly sub: number;
  readonly sizes?: Row["sizes"];
};
const lsc = (r: LscRow): Row =>
  row({ opcode: 0x89, name: r.mnemonic.toUpperCase(), sizes: anySize, from: "dg2", ...r });

const load: Execution = { kind: "memory", action: { kind: "lsc-access", access: "load" } };
const store: Execution = { kind: "memory", action: { kind: "lsc-access", access: "store" } };
const none = (reason: string): Execution => ({ kind: "none", reason });

const loads: readonly Row[] = [
  lsc({
    sub: 0x00,
    mnemonic: "lsc_load",
    execution: load,
    title: "load, one address per lane",
    page: "LSC_UNTYPED",
    text: "(P) lsc_load.{sfid}{.l1.l3}{.ov} E data address",
    file: `${untyped} data.register address.base0 null null`,
    // How a file holds the option is not known.
    operands: { sfid, l1: cache, l3: cache, ov: { class: "option", choices: { ov: 1 } }, data: data("dst"), address },
  }),
  lsc({
    sub: 0x01,
    mnemonic: "lsc_load_strided",
    execution: load,
    title: "load at equally spaced addresses",
    page: "LSC_UNTYPED",
    text: "(P) lsc_load_strided.{sfid}{.l1.l3} E data address",
    file: `${untyped} data.register address.base0 address.pitch null`,
    operands: { sfid, l1: cache, l3: cache, data: data("dst"), address },
  }),
  lsc({
    sub: 0x02,
    mnemonic: "lsc_load_quad",
    execution: load,
    title: "load of some of four elements, one address per lane",
    page: "LSC_UNTYPED",
    text: "(P) lsc_load_quad.{sfid}{.l1.l3} E data address",
    file: `${untyped} data.register address.base0 null null`,
    operands: { sfid, l1: cache, l3: cache, data: data("dst", "channels"), address },
  }),
  lsc({
    sub: 0x1b,
    mnemonic: "lsc_load_status",
    execution: none("the presence of pages is not modelled"),
    title: "whether the pages at the addresses are present",
    page: "LSC_UNTYPED",
    text: "(P) lsc_load_status.{sfid}{.l1.l3} E data address",
    file: `${untyped} data.register address.base0 null null`,
    operands: { sfid, l1: cache, l3: cache, data: data("dst"), address },
  }),
];

const stores: readonly Row[] = [
  lsc({
    sub: 0x04,
    mnemonic: "lsc_store",
    execution: store,
    title: "store, one address per lane",
    page: "LSC_UNTYPED",
    text: "(P) lsc_store.{sfid}{.l1.l3} E address data",
    file: `${untyped} null address.base0 data.register null`,
    operands: { sfid, l1: cache, l3: cache, address, data: data("src") },
  }),
  lsc({
    sub: 0x05,
    mnemonic: "lsc_store_strided",
    execution: store,
    title: "store at equally spaced addresses",
    page: "LSC_UNTYPED",
    text: "(P) lsc_store_strided.{sfid}{.l1.l3} E address data",
    file: `${untyped} null address.base0 address.pitch data.register`,
    operands: { sfid, l1: cache, l3: cache, address, data: data("src") },
  }),
  lsc({
    sub: 0x06,
    mnemonic: "lsc_store_quad",
    execution: store,
    title: "store of some of four elements, one address per lane",
    page: "LSC_UNTYPED",
    text: "(P) lsc_store_quad.{sfid}{.l1.l3} E address data",
    file: `${untyped} null address.base0 data.register null`,
    operands: { sfid, l1: cache, l3: cache, address, data: data("src", "channels") },
  }),
  lsc({
    sub: 0x1c,
    mnemonic: "lsc_store_uncompressed",
    execution: store,
    title: "store to memory that is not compressed",
    page: "LSC_UNTYPED",
    text: "(P) lsc_store_uncompressed.{sfid}{.l1.l3} E address data",
    file: `${untyped} null address.base0 data.register null`,
    operands: { sfid, l1: cache, l3: cache, address, data: data("src") },
  }),
  lsc({
    sub: 0x1d,
    mnemonic: "lsc_ccs_update",
    execution: none("compression is not modelled"),
    title: "change of the state of compression",
    page: "LSC_UNTYPED",
    text: "(P) lsc_ccs_update.{sfid}{.l1.l3} E address data",
    file: `${untyped} null address.base0 data.register null`,
    operands: { sfid, l1: cache, l3: cache, address, data: data("src") },
  }),
];

const block = `${head} data.size data.order data.blocks data.width:u16 data.height:u16 data.vnni`;
const blockAddress = [0, 1, 2, 3, 4, 5].map((i) => `address.base${i}`).join(" ");
const blocks: readonly Row[] = [
  lsc({
    sub: 0x03,
    mnemonic: "lsc_load_block2d",
    execution: { kind: "memory", action: { kind: "matrix-block", access: "load" } },
    title: "load of blocks of a matrix",
    page: "LSC_UNTYPED",
    text: "(P) lsc_load_block2d.{sfid}{.l1.l3} E data address",
    file: `${block} data.register ${blockAddress} null`,
    operands: { sfid, l1: cache, l3: cache, data: data("dst", "block"), address },
    from: "pvc",
  }),
  lsc({
    sub: 0x07,
    mnemonic: "lsc_store_block2d",
    execution: { kind: "memory", action: { kind: "matrix-block", access: "store" } },
    title: "store of a block of a matrix",
    page: "LSC_UNTYPED",
    text: "(P) lsc_store_block2d.{sfid}{.l1.l3} E address data",
    file: `${block} null ${blockAddress} data.register`,
    operands: { sfid, l1: cache, l3: cache, address, data: data("src", "block") },
    from: "pvc",
  }),
];

/** The part of the mnemonic after `lsc_atomic_`, the sub-opcode, the function and its title. */
const atomicNames: readonly (readonly [name: string, sub: number, op: AtomicFunction, title: string])[] = [
  ["iinc", 0x08, "inc", "increment"],
  ["idec", 0x09, "dec", "decrement"],
  ["load", 0x0a, "load", "load"],
  ["store", 0x0b, "exchange", "exchange"],
  ["iadd", 0x0c, "add", "addition of integers"],
  ["isub", 0x0d, "sub", "subtraction of integers"],
  ["smin", 0x0e, "smin", "minimum of signed integers"],
  ["smax", 0x0f, "smax", "maximum of signed integers"],
  ["umin", 0x10, "umin", "minimum of unsigned integers"],
  ["umax", 0x11, "umax", "maximum of unsigned integers"],
  ["icas", 0x12, "cas", "exchange of integers if equal"],
  ["fadd", 0x13, "fadd", "addition of floats"],
  ["fsub", 0x14, "fsub", "subtraction of floats"],
  ["fmin", 0x15, "fmin", "minimum of floats"],
  ["fmax", 0x16, "fmax", "maximum of floats"],
  ["fcas", 0x17, "fcas", "exchange of floats if equal"],
  ["and", 0x18, "and", "and"],
  ["or", 0x19, "or", "or"],
  ["xor", 0x1a, "xor", "exclusive or"],
  ["bfadd", 0x21, "fadd", "addition of bfloats"],
  ["bfsub", 0x22, "fsub", "subtraction of bfloats"],
  ["bfmin", 0x23, "fmin", "minimum of bfloats"],
  ["bfmax", 0x24, "fmax", "maximum of bfloats"],
  ["bfcas", 0x25, "fcas", "exchange of bfloats if equal"],
];

const atomics: readonly Row[] = atomicNames.map(([name, sub, op, title]) =>
  lsc({
    sub,
    mnemonic: `lsc_atomic_${name}`,
    execution: { kind: "memory", action: { kind: "lsc-atomic", op, bfloat: name.startsWith("bf") } },
    title: `atomic ${title}`,
    page: "LSC_UNTYPED",
    text: `(P) lsc_atomic_${name}.{sfid}{.l1.l3} E data address src0 src1`,
    file: `${untyped} data.register address.base0 src0 src1`,
    operands: { sfid, l1: cache, l3: cache, data: data("dst"), address, src0: bare("src"), src1: bare("src") },
  }),
);

const counters: readonly Row[] = (
  [
    ["add", 0x28],
    ["sub", 0x29],
    ["store", 0x2a],
  ] as const
).map(([name, sub]) =>
  lsc({
    sub,
    mnemonic: `lsc_apndctr_atomic_${name}`,
    title: "atomic operation on the counter of a surface",
    page: "LSC_UNTYPED",
    text: `(P) lsc_apndctr_atomic_${name}.{sfid}{.l1.l3} E data address source`,
    file: name === "store" ? null : `${head} address.model ${dataFields} address.surface data.register source.register`,
    operands: { sfid, l1: cache, l3: cache, data: data("dst"), address, source: data("src") },
    execution: none("counters of surfaces are not modelled"),
    from: "bmg",
  }),
);

const control = lsc({
  sub: 0x33,
  mnemonic: "lsc_extended_cache_ctrl",
  execution: none("caches are not modelled"),
  title: "change of the state of cache lines",
  page: "LSC_UNTYPED",
  text: "(P) lsc_extended_cache_ctrl.{sfid}{.l1.l3}.{operation}.{bytes} E address",
  file: null,
  operands: {
    sfid,
    l1: cache,
    l3: cache,
    operation: { class: "option", choices: { set: 0, reset: 1 } },
    bytes: { class: "option", choices: { "64B": 0, "128B": 1, "192B": 2, "256B": 3 } },
    address,
  },
  from: "bmg",
});

const tgm: OperandSpec = { class: "option", choices: { tgm: 2 } };
const typedHead = "exec pred l1 l3 address.model address.size";
const coordinates = "address.base0 address.base1 address.base2 address.base3";
const image: Execution = { kind: "image" };

const typed = (r: Omit<LscRow, "execution"> & { readonly execution?: Execution }): Row =>
  row({
    opcode: 0x8a,
    name: r.mnemonic.toUpperCase(),
    sizes: anySize,
    from: "dg2",
    execution: image,
    ...r,
  });
const typedFile = (dst: string, src0: string, src1: string): string =>
  `${typedHead} ${dataFields} address.surface ${dst} ${coordinates} ${src0} ${src1}`;

const typedLoads: readonly Row[] = (
  [
    ["lsc_load_quad", 0x02, image],
    ["lsc_load_quad_msrt", 0x31, image],
    ["lsc_load_quad_status", 0x36, image],
  ] as const
).map(([mnemonic, sub, execution]) =>
  typed({
    sub,
    mnemonic,
    execution,
    title: "load of pixels of a typed surface",
    page: "LSC_TYPED",
    text: `(P) ${mnemonic}.{sfid}{.l1.l3} E data address`,
    file: typedFile("data.register", "null", "null"),
    operands: { sfid: tgm, l1: cache, l3: cache, data: data("dst", "channels"), address },
  }),
);

const typedStores: readonly Row[] = (
  [
    ["lsc_store_quad", 0x06, image],
    ["lsc_store_quad_msrt", 0x32, image],
  ] as const
).map(([mnemonic, sub, execution]) =>
  typed({
    sub,
    mnemonic,
    execution,
    title: "store of pixels of a typed surface",
    page: "LSC_TYPED",
    text: `(P) ${mnemonic}.{sfid}{.l1.l3} E address data`,
    file: typedFile("null", "data.register", "null"),
    operands: { sfid: tgm, l1: cache, l3: cache, address, data: data("src", "channels") },
  }),
);

const typedAtomics: readonly Row[] = atomicNames
  .filter(([name]) => !name.startsWith("bf"))
  .map(([name, sub, op, title]) =>
    typed({
      sub,
      mnemonic: `lsc_atomic_${name}`,
      execution: { kind: "image", atomic: op },
      title: `atomic ${title} on a typed surface`,
      page: "LSC_TYPED",
      text: `(P) lsc_atomic_${name}.{sfid}{.l1.l3}{.msaa} E data address src0 src1`,
      file: typedFile("data.register", "src0", "src1"),
      operands: {
        sfid: tgm,
        l1: cache,
        l3: cache,
        msaa: { class: "option", choices: { msaa: 1 } },
        data: data("dst"),
        address,
        src0: bare("src"),
        src1: bare("src"),
      },
    }),
  );

const typedBlock: OperandSpec = { class: "lsc-data", role: "dst", shape: "typed-block" };
const typedRest: readonly Row[] = [
  typed({
    sub: 0x03,
    mnemonic: "lsc_load_block2d",
    title: "load of a block of a typed surface",
    page: "LSC_TYPED",
    text: "(P) lsc_load_block2d.{sfid}{.l1.l3} data address",
    file: null,
    operands: { sfid: tgm, l1: cache, l3: cache, data: typedBlock, address },
    sizes: null,
    from: "bmg",
  }),
  typed({
    sub: 0x07,
    mnemonic: "lsc_store_block2d",
    title: "store of a block of a typed surface",
    page: "LSC_TYPED",
    text: "(P) lsc_store_block2d.{sfid}{.l1.l3} address data",
    file: null,
    operands: { sfid: tgm, l1: cache, l3: cache, address, data: { ...typedBlock, role: "src" } },
    sizes: null,
    from: "bmg",
  }),
  typed({
    sub: 0x1e,
    mnemonic: "lsc_read_state_info",
    execution: none("what this message returns is not documented"),
    title: "information from a surface's state",
    page: "LSC_TYPED",
    text: "(P) lsc_read_state_info.{sfid} data address",
    file: null,
    operands: { sfid: tgm, data: bare("dst"), address },
    sizes: null,
  }),
];

/** Messages to the load and store cache (LSC): accesses with several address models, data sizes and vectors. */
export const lscRows: readonly Row[] = [
  ...loads,
  ...stores,
  ...blocks,
  ...atomics,
  ...counters,
  control,
  ...typedLoads,
  ...typedStores,
  ...typedAtomics,
  ...typedRest,
];
