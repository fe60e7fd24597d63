import { blockUniform } from "./compute.ts";
import type { FunctionText } from "./function-text.ts";
import { blobBytes, ownBytes, tableBytes } from "./module-text.ts";
import type { Scope, Weights } from "./scope.ts";
import type { Width } from "./values.ts";

/** Bytes of the array that each function has in local memory, and of the read-only one in shared memory. */
const localBytes = 64;
export const sharedTableBytes = 256;

/** Memory that a thread may read at any place without a race. */
interface Region {
  readonly bytes: number;
  /** What `ld` and `st` write after the dot; "" for a generic address. */
  readonly space: string;
  /** A register with the address, in that space. */
  readonly base: string;
  readonly writable: boolean;
  /** Kinds of `ld` that read it, besides the plain one. */
  readonly also?: readonly string[];
}

const symbol = (text: FunctionText, name: string): string => {
  const base = text.temporary(64);
  text.add(`mov.u64 ${base}, ${name};`);
  return base;
};

/** The regions of a scope. `writable`: only what the thread has for itself. */
function region(scope: Scope, writable: boolean): Region {
  const { text, module, level } = scope;
  const { random } = text;
  switch (
    random.weighted({
      own: 3,
      found: 2,
      local: arrays.has(text) && !(writable && tables.has(text) && random.chance(0.9)) ? 2 : 0,
      global: writable ? 0 : 2,
      const: writable ? 0 : 2,
      ...rest(),
    })
  ) {
    case "own":
      return { bytes: ownBytes, space: "global", base: "%own", writable: true };
    case "found":
      return found(scope, writable);
    case "local":
      return { bytes: localBytes, space: "local", base: symbol(text, "loc"), writable: true };
    case "global": {
      const also = ["ld.global.nc", "ld.global.cg", "ld.relaxed.gpu.global", "ld.volatile.global", "ldu.global"];
      return { bytes: tableBytes, space: "global", base: symbol(text, module.table("global")), writable, also };
    }
    case "const":
      return { bytes: tableBytes, space: "const", base: symbol(text, module.table("const")), writable };
    case "shared":
      return { bytes: sharedTableBytes, space: "shared", base: symbol(text, "st"), writable };
    case "blob":
      return { bytes: blobBytes, space: "param", base: symbol(text, "blob"), writable };
  }

  function rest() {
    if (writable) return {};
    return { shared: module.has("st") ? 3 : 0, blob: level < 0 ? 1 : 0 };
  }
}

/** What is the thread's own, or to be read a table too as each lane likes, by a pointer that has been in memory. */
function found({ text, module }: Scope, writable: boolean): Region {
  const { random } = text;
  const base = text.temporary(64);
  const own = `[%own+${8 * random.below(ownBytes / 8)}]`;
  const mixed = !writable && random.chance(0.6);
  const from = mixed ? symbol(text, module.table("global")) : "%own";
  text.add(`selp.b64 ${base}, %own, ${from}, ${text.register(1)};`);
  text.add(`st.global.u64 ${own}, ${base};`, `ld.global.u64 ${base}, ${own};`);
  return { bytes: mixed ? Math.min(ownBytes, tableBytes) : ownBytes, space: "global", base, writable };
}

/** Functions that have a local array, and those in which it is a table of constants. */
const arrays = new WeakSet<FunctionText>();
const tables = new WeakSet<FunctionText>();

/** Declares the local array of a function that may want one, and fills it with words of the pool. */
export function beginLocalArray(text: FunctionText, { load = 0, store = 0, fault = 0 }: Weights): void {
  if (fault === 0 && (load + store === 0 || text.random.chance(0.4))) return;
  arrays.add(text);
  text.declare(`.local .align 32 .b8 loc[${localBytes}];`);
  if (text.random.chance(0.5)) {
    tables.add(text);
    fillWithConstants(text);
    return;
  }
  for (let at = 0; at < localBytes; at += 8) text.add(`st.local.b64 [loc+${at}], ${text.register(64)};`);
}

/** Stores that are the same for all threads, as those of a table in a function: of all bytes, or not quite. */
function fillWithConstants(text: FunctionText): void {
  const { random } = text;
  const base = random.chance(0.5) ? "loc" : symbol(text, "loc");
  for (let at = 0; at < localBytes; ) {
    const bits = random.pick([8, 16, 32, 64].filter((b) => at % (b / 8) === 0));
    const value = random.below(2 ** Math.min(bits, 31));
    const from = bits === 8 || random.chance(0.5) ? value : text.temporary(bits as 16 | 32 | 64);
    if (from !== value) text.add(`mov.b${bits} ${from}, ${value};`);
    const isGuarded = random.chance(0.01);
    if (random.chance(0.95))
      text.add(`${isGuarded ? `@${text.register(1)} ` : ""}st.local.b${bits} [${base}+${at}], ${from};`);
    at += bits / 8;
  }
}

/** The region by a generic address, or two regions of which each lane takes one. */
function generic(scope: Scope, writable: boolean): Region {
  const { text } = scope;
  const of = (r: Region): string => {
    const address = text.temporary(64);
    text.add(`cvta.${r.space}.u64 ${address}, ${r.base};`);
    return address;
  };
  const first = region(scope, writable);
  const base = of(first);
  if (text.random.chance(0.5)) return { ...first, space: "", base, also: [] };
  const second = region(scope, writable);
  const mixed = text.temporary(64);
  text.add(`selp.b64 ${mixed}, ${base}, ${of(second)}, ${text.register(1)};`);
  const bytes = Math.min(first.bytes, second.bytes);
  return { bytes, space: "", base: mixed, writable: first.writable && second.writable };
}

const types = ["b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"] as const;

/** The address of `bytes` bytes within a region, as an instruction writes it. */
function addressIn(scope: Scope, { base, bytes: all }: Region, bytes: number): string {
  const { text } = scope;
  const { random } = text;
  const constant = bytes * random.below(all / bytes);
  if (random.chance(0.3)) return `[${base}+${constant}]`;
  const index = text.temporary(32);
  const address = text.temporary(64);
  const source = random.weighted({ any: 5, affine: 3, uniform: 2 });
  if (source === "affine") text.add(`mul.lo.u32 ${index}, ${random.pick(["%lt", "%lane"])}, ${bytes};`);
  else text.add(`mov.b32 ${index}, ${source === "any" ? text.register(32) : blockUniform(text)};`);
  const count = all / bytes;
  switch (random.below(4)) {
    case 0:
      text.add(`and.b32 ${index}, ${index}, ${all - bytes};`, `cvt.u64.u32 ${address}, ${index};`);
      text.add(`add.s64 ${address}, ${base}, ${address};`);
      break;
    case 1:
      text.add(`and.b32 ${index}, ${index}, ${count - 1};`, `mul.wide.s32 ${address}, ${index}, ${bytes};`);
      text.add(`add.u64 ${address}, ${address}, ${base};`);
      break;
    case 2:
      text.add(`and.b32 ${index}, ${index}, ${count - 1};`, `mad.wide.u32 ${address}, ${index}, ${bytes}, ${base};`);
      break;
    default: {
      // From the middle of the region in both directions.
      text.add(`and.b32 ${index}, ${index}, ${all - bytes};`, `sub.s32 ${index}, ${index}, ${all / 2};`);
      text.add(`cvt.s64.s32 ${address}, ${index};`, `add.s64 ${address}, ${base}, ${address};`);
      return `[${address}+${all / 2}]`;
    }
  }
  return `[${address}]`;
}

interface Shape {
  readonly type: (typeof types)[number];
  readonly elements: number;
  readonly bytes: number;
}

function shape(scope: Scope, { space }: Region): Shape {
  const { random } = scope.text;
  const type = random.pick(types);
  const size = Number(type.slice(1)) / 8;
  // Only global memory has vectors of 32 bytes.
  const most = space === "global" && size >= 4 ? 32 : 16;
  const elements = random.pick([1, 1, 1, 2, 4, 8].filter((n) => n * size <= most && (n < 8 || size >= 4)));
  return { type, elements, bytes: elements * size };
}

/** Registers that hold the elements: wider ones are allowed, except of floating-point types. */
function registers({ text }: Scope, { type, elements }: Shape, loaded: boolean): string {
  const { random } = text;
  const size = Number(type.slice(1)) as Exclude<Width, 1 | 128>;
  const wider = ([8, 16, 32, 64] as const).filter((w) => w >= size);
  const exact = type.startsWith("f") || random.chance(0.6);
  const width = !exact ? random.pick(wider) : size === 8 ? random.pick([16, 32] as const) : size;
  const names = new Set<string>();
  for (let tries = 0; names.size < elements; tries++) {
    // The pool may have too few of this width.
    names.add(tries > 40 ? text.temporary(width) : text.register(width, !loaded && random.chance(0.2)));
  }
  const list = [...names].join(", ");
  return elements === 1 ? list : `{${list}}`;
}

const vectorOf = ({ elements, type }: Shape): string => `${elements === 1 ? "" : `.v${elements}`}.${type}`;
const guardOf = ({ text }: Scope): string => (text.random.chance(0.15) ? `@${text.register(1)} ` : "");

/** An address some bytes beyond another. */
function beyond(address: string, bytes: number): string {
  const [, base, offset = "0"] = /^\[(.*?)(?:\+(\d+))?\]$/.exec(address)!;
  return `[${base}+${Number(offset) + bytes}]`;
}

/** Loads bytes and halves near each other in any order, and puts a word together from some of them. */
function loadBytes(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const r = random.chance(0.25) ? generic(scope, false) : region(scope, false);
  const span = random.pick([4, 8, 16, 32]);
  const address = addressIn(scope, r, span);
  const plain = r.space === "" ? "ld" : `ld.${r.space}`;
  const loaded = Array.from({ length: 2 + random.below(7) }, () => {
    const to = text.temporary(32);
    const type = random.pick(["u8", "u8", "u8", "b8", "s8", "u16", "s16"]);
    const size = Number(type.slice(1)) / 8;
    text.add(`${plain}.${type} ${to}, ${beyond(address, size * random.below(span / size))};`);
    return to;
  });
  let word = random.pick(loaded);
  for (const byte of loaded) {
    const sum = text.temporary(32);
    const moved = text.temporary(32);
    const shift = 8 * random.below(4);
    switch (random.below(4)) {
      case 0:
        text.add(`shl.b32 ${moved}, ${byte}, ${shift};`, `or.b32 ${sum}, ${word}, ${moved};`);
        break;
      case 1:
        text.add(`mad.lo.u32 ${sum}, ${word}, 256, ${byte};`);
        break;
      case 2:
        text.add(
          `prmt.b32 ${sum}, ${word}, ${byte}, ${random.pick([0x4210, 0x3240, 0x1405, 0x5410, 0x7650, 0x0123])};`,
        );
        break;
      default:
        text.add(`shr.u32 ${moved}, ${word}, ${shift};`, `and.b32 ${moved}, ${moved}, 0xff00ff;`);
        text.add(`xor.b32 ${sum}, ${moved}, ${byte};`);
    }
    word = sum;
  }
  text.add(`xor.b32 ${text.register(32)}, ${word}, ${text.register(32)};`);
}

export function load(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  if ((scope.weights.fault ?? 0) === 0 && random.chance(0.1)) {
    loadBytes(scope);
    return;
  }
  const r = random.chance(0.25) ? generic(scope, false) : region(scope, false);
  const s = shape(scope, r);
  const address = addressIn(scope, r, s.bytes);
  const plain = r.space === "" ? "ld" : `ld.${r.space}`;
  const special = r.also && r.also.length > 0 && s.bytes <= 16 && random.chance(0.3) ? random.pick(r.also) : plain;
  // Strong loads can see what others do: a group that loops over them gives way, which warp-wide operations would tell.
  const watched = /relaxed|volatile/.test(special) && "warp" in scope.weights;
  text.add(`${guardOf(scope)}${watched ? plain : special}${vectorOf(s)} ${registers(scope, s, true)}, ${address};`);
}

export function store(scope: Scope): void {
  const { text } = scope;
  const r = text.random.chance(0.25) ? generic(scope, true) : region(scope, true);
  const s = shape(scope, r);
  const address = addressIn(scope, r, s.bytes);
  const opcode = r.space === "" ? "st" : `st.${r.space}`;
  text.add(`${guardOf(scope)}${opcode}${vectorOf(s)} ${address}, ${registers(scope, s, false)};`);
}
