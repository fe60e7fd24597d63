import { expect, test } from "vitest";
import { instructionSet } from "../../src/ptx/isa/index.ts";
import { type ChannelType, Device, type ImageOptions, type KernelArgument } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { opcodesOf, opcodesOfPairs } from "../ptx/isa/opcodes.ts";

/*
 * Every form of suld, sust, sured, suq, txq and istypep with every choice of its modifiers, in both engines. Expected
 * bytes are computed here from the words of sections 9.7.10.5, 9.7.10.6 and 9.7.11.
 */

const lanes = 32;
const hash = (n: number): number => Math.imul(n + 3, 0x9e37_79b1) >>> 0;

/** Sizes in texels of 16 bytes. */
const shapes: Readonly<Record<string, Omit<ImageOptions, "type">>> = {
  "1d": { width: 6 },
  "2d": { width: 6, height: 5 },
  "3d": { width: 6, height: 5, depth: 4 },
  a1d: { width: 6, layers: 3 },
  a2d: { width: 6, height: 5, layers: 3 },
};

interface Case {
  readonly opcode: string;
  readonly words: readonly string[];
  readonly geom: string;
  readonly bounds: string;
  /** Elements, and bytes of each. */
  readonly count: number;
  readonly size: number;
  readonly formatted: boolean;
}

function caseOf(opcode: string): Case {
  const words = opcode.split(".");
  const geom = words.find((word) => word in shapes)!;
  const type = words.at(-2)!;
  const vector = words.find((word) => word === "v2" || word === "v4");
  return {
    ...{ opcode, words, geom, bounds: words.at(-1)!, formatted: words[1] === "p" },
    count: vector === undefined ? 1 : Number(vector[1]),
    size: Number(/\d+/.exec(type)![0]) / 8,
  };
}

/** The coordinates of a lane: x in bytes or texels, y, z and layer; with .trap inside, else around the surface. */
function placeOf({ geom, bounds, count, size, formatted }: Case, lane: number, unit: number): number[] {
  const { width, height = 1, depth = 1, layers = 1 } = shapes[geom]!;
  const beyond = bounds === "trap" ? 0 : 2;
  const within = (salt: number, n: number): number => (hash(lane * 4 + salt) % (n + beyond)) - beyond / 2;
  const steps = formatted ? width : (width * unit) / (count * size);
  const x = within(0, steps) * (formatted ? 1 : count * size);
  const axes = Number(/\d/.exec(geom)![0]);
  const [y, z] = [axes > 1 ? within(1, height) : 0, axes > 2 ? within(2, depth) : 0];
  return [x, y, z, geom.startsWith("a") ? Math.max(0, within(3, layers)) : 0];
}

/** The byte at which the element of a place begins, or null where nothing is accessed. */
function byteOf(one: Case, place: readonly number[], unit: number): number | null {
  const { width, height = 1, depth = 1, layers = 1 } = shapes[one.geom]!;
  const last = one.formatted ? width - 1 : width * unit - one.count * one.size;
  const most = [last, height - 1, depth - 1, layers - 1];
  const isInside = place.every((n, axis) => n >= 0 && n <= most[axis]!);
  if (!isInside && one.bounds === "zero") return null;
  const [x, y, z, layer] = place.map((n, axis) => Math.max(0, Math.min(most[axis]!, n))) as [
    number,
    number,
    number,
    number,
  ];
  return ((layer * depth + z) * height + y) * width * unit + x * (one.formatted ? unit : 1);
}

/** Registers for elements: bytes are in registers of 16 bits. */
const classOf = (size: number): string => `.b${Math.max(16, 8 * size)}`;

function kernelOf(one: Case, body: (coordinates: string, data: readonly string[]) => string): string {
  const { geom, count, size } = one;
  const data = Array.from({ length: count }, (_, i) => `%d${i}`);
  const list = { "1d": ["%x"], "2d": ["%x", "%y"], "3d": ["%x", "%y", "%z", "%z"], a1d: ["%w", "%x"] }[geom] ?? [
    ...["%w", "%x", "%y", "%y"],
  ];
  return `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 s, .param .u64 in, .param .u64 data) {
  .reg .b64 %s, %in, %data; .reg .b32 %lane, %x, %y, %z, %w; .reg ${classOf(size)} %d<4>;
  ld.param.u64 %s, [s]; ld.param.u64 %in, [in]; ld.param.u64 %data, [data];
  mov.u32 %lane, %tid.x;
  mad.wide.u32 %in, %lane, 16, %in; mad.wide.u32 %data, %lane, 32, %data;
  ld.global.v4.u32 {%x, %y, %z, %w}, [%in];
  ${body(`[%s, {${list.join(", ")}}]`, data)}
  ret;
}`;
}

const vectorOf = (names: readonly string[]): string => (names.length === 1 ? names[0]! : `{${names.join(", ")}}`);
const each = (names: readonly string[], line: (name: string, i: number) => string): string => names.map(line).join(" ");

interface Run {
  readonly surface: Uint8Array;
  readonly data: Uint8Array;
}

/** Runs a kernel over a surface of hashed bytes. */
function run(
  text: string,
  one: Case,
  type: ChannelType,
  channels: 1 | 2 | 4,
  engine: (typeof usualEngines)[number],
  data: Uint8Array,
): Run {
  const device = new Device({ engine });
  const image = device.image({ type, channels, ...shapes[one.geom]! });
  image.buffer.writeBytes(bytesOf(image.byteLength));
  const unit = unitOf(type, channels);
  const places = Array.from({ length: lanes }, (_, lane) => placeOf(one, lane, unit)).flat();
  const buffers = [device.buffer(Int32Array.from(places)), device.buffer(data)] as const;
  const result = device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: lanes, args: [image.surface(), ...buffers] });
  expect(result.reports.map(({ message }) => message)).toEqual([]);
  return { surface: image.buffer.readBytes(), data: buffers[1].readBytes() };
}

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, n) => hash(n) >>> 5);
const unitOf = (type: ChannelType, channels: number): number => (Number(/\d+/.exec(type)![0]) / 8) * channels;
const surfaceBytes = ({ geom }: Case, unit: number): number => {
  const { width, height = 1, depth = 1, layers = 1 } = shapes[geom]!;
  return width * height * depth * layers * unit;
};

function checkLoad(one: Case, engine: (typeof usualEngines)[number]): void {
  const { size, count } = one;
  const text = kernelOf(one, (at, data) => {
    const type = size === 1 ? "b16" : `b${8 * size}`;
    const step = Math.max(2, size);
    return `${one.opcode} ${vectorOf(data)}, ${at}; ${each(data, (d, i) => `st.global.${type} [%data + ${i * step}], ${d};`)}`;
  });
  const got = run(text, one, "u32", 4, engine, new Uint8Array(32 * lanes));
  const before = bytesOf(surfaceBytes(one, 16));
  const wanted = new Uint8Array(32 * lanes);
  for (let lane = 0; lane < lanes; lane++) {
    const at = byteOf(one, placeOf(one, lane, 16), 16);
    if (at === null) continue;
    for (let i = 0; i < count; i++) {
      for (let b = 0; b < size; b++) wanted[32 * lane + i * Math.max(2, size) + b] = before[at + i * size + b]!;
    }
  }
  expect(got).toEqual({ surface: before, data: wanted });
}

/** Raw stores. Where lanes store to the same place, the last in lane order stays. */
function checkStore(one: Case, engine: (typeof usualEngines)[number]): void {
  const { size, count } = one;
  const data = bytesOf(32 * lanes);
  const text = kernelOf(one, (at, names) => {
    const type = size === 1 ? "b16" : `b${8 * size}`;
    const step = Math.max(2, size);
    return `${each(names, (d, i) => `ld.global.${type} ${d}, [%data + ${i * step}];`)} ${one.opcode} ${at}, ${vectorOf(names)};`;
  });
  const got = run(text, one, "u32", 4, engine, data);
  const wanted = bytesOf(surfaceBytes(one, 16));
  for (let lane = 0; lane < lanes; lane++) {
    const at = byteOf(one, placeOf(one, lane, 16), 16);
    if (at === null) continue;
    for (let i = 0; i < count; i++) {
      for (let b = 0; b < size; b++) wanted[at + i * size + b] = data[32 * lane + i * Math.max(2, size) + b]!;
    }
  }
  expect(got).toEqual({ surface: wanted, data });
}

/** Formatted stores: bytes as fractions, so that a float of k / 255 becomes k. */
function checkFormatted(one: Case, engine: (typeof usualEngines)[number]): void {
  const data = new Float32Array(8 * lanes).map((_, n) => (hash(n) % 256) / 255);
  const text = kernelOf(one, (at, names) => {
    const loads = each(names, (d, i) => `ld.global.b32 ${d}, [%data + ${4 * i}];`);
    return `${loads} ${one.opcode} ${at}, ${vectorOf(names)};`;
  });
  const got = run(text, one, "unorm8", 4, engine, new Uint8Array(data.buffer));
  const wanted = bytesOf(surfaceBytes(one, 4));
  for (let lane = 0; lane < lanes; lane++) {
    const at = byteOf(one, placeOf(one, lane, 4), 4);
    if (at === null) continue;
    // Channels that are not given are unpredictable: 0 in this machine.
    for (let c = 0; c < 4; c++) wanted[at + c] = c < one.count ? Math.round(data[8 * lane + c]! * 255) : 0;
  }
  expect(got.surface).toEqual(wanted);
}

function checkReduction(one: Case, engine: (typeof usualEngines)[number]): void {
  const { size, words, formatted } = one;
  const op = words[2]!;
  const type = words.at(-2)!;
  // Signedness of .p is that of the surface's channels.
  const signedChannels = formatted && op !== "and";
  const isSigned = formatted ? signedChannels : type.startsWith("s");
  const bits = 8 * size;
  const data = bytesOf(32 * lanes);
  const text = kernelOf(
    { ...one, count: 1 },
    (at, [d]) => `ld.global.b${bits} ${d}, [%data]; ${one.opcode} ${at}, ${d};`,
  );
  const channel: ChannelType = signedChannels ? "s32" : "u32";
  const channels = size === 8 ? 2 : 1;
  const got = run(text, one, channel, channels, engine, data);
  const wanted = bytesOf(surfaceBytes(one, size));
  const view = new DataView(wanted.buffer);
  const typed = (value: bigint): bigint => (isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value));
  const given = new DataView(data.buffer, data.byteOffset);
  const read = (from: DataView, at: number): bigint =>
    size === 8 ? from.getBigUint64(at, true) : BigInt(from.getUint32(at, true));
  for (let lane = 0; lane < lanes; lane++) {
    const at = byteOf(one, placeOf(one, lane, size), size);
    if (at === null) continue;
    const [a, b] = [typed(read(view, at)), typed(read(given, 32 * lane))];
    const results: Readonly<Record<string, bigint>> = {
      add: a + b,
      min: a < b ? a : b,
      max: a > b ? a : b,
      and: a & b,
      or: a | b,
    };
    const result = results[op]!;
    if (size === 8) view.setBigUint64(at, BigInt.asUintN(64, result), true);
    else view.setUint32(at, Number(BigInt.asUintN(32, result)), true);
  }
  expect(got.surface).toEqual(wanted);
}

const checks: Readonly<Record<string, (one: Case, engine: (typeof usualEngines)[number]) => void>> = {
  suld: checkLoad,
  "sust.b": checkStore,
  "sust.p": checkFormatted,
  "sured.b": checkReduction,
  "sured.p": checkReduction,
};

for (const form of instructionSet.instructions.flatMap(({ forms }) => forms)) {
  const check = checks[form.text.split(".")[0]!] ?? checks[form.text.split(".").slice(0, 2).join(".")];
  if (check === undefined) continue;
  for (const engine of usualEngines) {
    test(`${form.text} (${engine})`, () => {
      for (const opcode of opcodesOfPairs(form)) {
        try {
          check(caseOf(opcode), engine);
        } catch (error) {
          throw new Error(opcode, { cause: error });
        }
      }
    });
  }
}

/** What each query gives: OpenCL's numbers for CL_FLOAT, CL_RG and CL_UNSIGNED_INT8 (tables 12 and 13). */
const answers: readonly [opcode: string, of: "mips" | "multi" | "layers" | "linear" | "sampler", answer: number][] = [
  ["txq.width.b32", "mips", 40],
  ["txq.height.b32", "mips", 20],
  ["txq.depth.b32", "mips", 10],
  ["txq.depth.b32", "layers", 0],
  ["txq.channel_data_type.b32", "mips", 0x10de],
  ["txq.channel_order.b32", "mips", 0x10b2],
  ["txq.normalized_coords.b32", "mips", 1],
  ["txq.normalized_coords.b32", "layers", 0],
  ["txq.array_size.b32", "layers", 7],
  ["txq.array_size.b32", "mips", 0],
  ["txq.num_mipmap_levels.b32", "mips", 3],
  ["txq.num_mipmap_levels.b32", "layers", 0],
  ["txq.num_samples.b32", "multi", 8],
  ["txq.num_samples.b32", "mips", 0],
  ["txq.level.width.b32", "mips", 20],
  ["txq.level.height.b32", "mips", 10],
  ["txq.level.depth.b32", "mips", 5],
  ["txq.force_unnormalized_coords.b32", "sampler", 1],
  ["txq.filter_mode.b32", "sampler", 1],
  ["txq.filter_mode.b32", "mips", 0],
  ["txq.addr_mode_0.b32", "mips", 0],
  ["txq.addr_mode_1.b32", "mips", 1],
  ["txq.addr_mode_2.b32", "mips", 4],
  ["txq.addr_mode_0.b32", "sampler", 3],
  ["suq.width.b32", "layers", 12],
  ["suq.height.b32", "layers", 9],
  ["suq.depth.b32", "layers", 0],
  ["suq.depth.b32", "mips", 10],
  ["suq.channel_data_type.b32", "layers", 0x10da],
  ["suq.channel_order.b32", "layers", 0x10b0],
  ["suq.array_size.b32", "layers", 7],
  ["suq.memory_layout.b32", "layers", 0],
  ["suq.memory_layout.b32", "linear", 1],
];

/** What istypep says of each kind of object. */
const kinds = { texref: "texture", samplerref: "sampler", surfref: "surface" } as const;

function objects(device: Device) {
  const mips = device.image({ type: "f32", channels: 2, width: 40, height: 20, depth: 10, levels: 3 });
  const layers = device.image({ type: "u8", width: 12, height: 9, layers: 7 });
  const multi = device.image({ type: "u8", width: 12, height: 9, samples: 8 });
  const linear = device.image({ type: "u8", width: 12, layout: "linear" });
  const texture = mips.texture({ normalized: true, address: ["wrap", "mirror", "border"] });
  const sampler = device.sampler({ filter: "linear" });
  return {
    txq: { mips: texture, layers: layers.texture(), multi: multi.texture(), linear: linear.texture(), sampler },
    suq: { mips: mips.surface(), layers: layers.surface(), multi: multi.surface(), linear: linear.surface(), sampler },
  };
}

const queryKernel = (line: string): string => `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 s, .param .u64 out) {
  .reg .b64 %s, %out; .reg .b32 %d; .reg .pred %p;
  ld.param.u64 %s, [s]; ld.param.u64 %out, [out];
  ${line}
  st.global.u32 [%out], %d;
  ret;
}`;

for (const engine of usualEngines) {
  test(`queries (${engine})`, () => {
    const device = new Device({ engine });
    const of = objects(device);
    const out = device.buffer("u32", 1);
    const got = answers.map(([opcode, name]) => {
      const level = opcode.startsWith("txq.level") ? ", 1" : "";
      const object = of[opcode.slice(0, 3) as "txq" | "suq"][name];
      const kernel = device.load(queryKernel(`${opcode} %d, [%s]${level};`)).kernel("k");
      expect(kernel.launch({ grid: 1, block: 1, args: [object, out] }).ok).toBe(true);
      return [opcode, name, out.read()[0]];
    });
    expect(got).toEqual(answers);
  });

  test(`istypep (${engine})`, () => {
    const device = new Device({ engine });
    const image = device.image({ type: "u8", width: 8 });
    const values = { texture: image.texture(), surface: image.surface(), sampler: device.sampler() };
    const freed = image.texture();
    freed.free();
    const out = device.buffer("u32", 1);
    for (const [type, kind] of Object.entries(kinds)) {
      const kernel = device.load(queryKernel(`istypep.${type} %p, %s; selp.u32 %d, 1, 0, %p;`)).kernel("k");
      const is = (arg: KernelArgument): boolean => {
        expect(kernel.launch({ grid: 1, block: 1, args: [arg, out] }).reports).toEqual([]);
        return out.read()[0] === 1;
      };
      for (const [name, value] of Object.entries(values)) expect(is(value)).toBe(name === kind);
      expect([is(out), is(0), is(freed), is(0x7f00_1234_5678n)]).toEqual([false, false, false, false]);
    }
  });
}

test("every query is asked", () => {
  const asked = new Set(answers.map(([opcode]) => opcode));
  const forms = instructionSet.instructions
    .filter(({ name }) => name === "txq" || name === "suq")
    .flatMap((i) => i.forms);
  expect(forms.flatMap((form) => opcodesOf(form, 1000)).filter((opcode) => !asked.has(opcode))).toEqual([]);
});
