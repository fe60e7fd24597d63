import { wire } from "../base/wire.ts";
import { totalMemory } from "./allocations.ts";
import { type Gpu, sharedPerBlock } from "./gpu.ts";

/** A property: bytes of each of its values, the attributes that have these values too, and the values. */
type Property = readonly [bytes: 4 | 8, attributes: readonly number[], ...values: number[]];

const nameBytes = 256;
const propertiesBytes = 1008;

const int = (attribute: number, value: number): Property => [4, [attribute], value];
const size = (attributes: readonly number[], value: number): Property => [8, attributes, value];
const ints = (attributes: readonly number[], ...values: number[]): Property => [4, attributes, ...values];

/** What follows luidDeviceNodeMask in cudaDeviceProp, in its order, with the attributes of the same meaning. */
const limits = (gpu: Gpu): readonly Property[] => [
  size([], totalMemory),
  size([8], sharedPerBlock),
  int(12, 65_536),
  int(10, 32),
  size([11], 0x7fff_ffff),
  int(1, 1024),
  ints([2, 3, 4], 1024, 1024, 64),
  ints([5, 6, 7], 0x7fff_ffff, 65_535, 65_535),
  size([9], 65_536),
  int(75, gpu.major),
  int(76, gpu.minor),
  size([14], 512),
  size([51], 32),
  int(16, gpu.multiprocessors),
  int(18, 0),
  int(19, 1),
];

const textures: readonly Property[] = [
  int(21, 131_072),
  int(77, 32_768),
  ints([22, 23], 131_072, 65_536),
  ints([73, 74], 32_768, 32_768),
  ints([70, 71, 72], 131_072, 65_000, 2_097_120),
  ints([45, 46], 32_768, 32_768),
  ints([24, 25, 26], 16_384, 16_384, 16_384),
  ints([47, 48, 49], 8192, 8192, 32_768),
  int(52, 32_768),
  ints([42, 43], 32_768, 2048),
  ints([27, 28, 29], 32_768, 32_768, 2048),
  ints([53, 54], 32_768, 2046),
  int(55, 32_768),
  ints([56, 57], 131_072, 65_536),
  ints([58, 59, 60], 16_384, 16_384, 16_384),
  ints([61, 62], 32_768, 2048),
  ints([63, 64, 65], 32_768, 32_768, 2048),
  int(66, 32_768),
  ints([67, 68], 32_768, 2046),
  size([30], 512),
];

const abilities = (gpu: Gpu, device: number): readonly Property[] => [
  int(31, 1),
  int(32, gpu.name.includes("GeForce") ? 0 : 1),
  int(33, device + 1),
  int(34, 0),
  int(50, 0),
  int(35, 0),
  ints([40, 15], 3),
  int(41, 1),
  int(37, gpu.busBits),
  int(38, gpu.l2),
  int(108, gpu.persistingL2),
  int(39, gpu.threadsPerMultiprocessor),
  int(78, 1),
  int(79, 1),
  int(80, 1),
  size([81], gpu.sharedPerMultiprocessor),
  int(82, 65_536),
  int(83, 1),
  int(84, 0),
  int(85, device),
  int(86, 0),
  int(88, 0),
  int(89, 0),
  int(90, 1),
  int(91, 0),
  int(95, 1),
  size([97], gpu.sharedOptIn),
  int(100, 0),
  int(101, 0),
  int(106, gpu.blocksPerMultiprocessor),
  int(109, gpu.major >= 8 ? 128 << 20 : 0),
  size([111], gpu.sharedReserved),
  int(99, 1),
  int(112, 0),
  int(113, 0),
  int(114, 0),
  int(115, 1),
  int(116, 0),
  int(117, 0),
  int(118, 0),
  int(119, 0),
  int(121, 0),
  int(125, 0),
  int(120, gpu.major >= 9 ? 1 : 0),
  int(129, 0),
  int(130, 0),
  int(131, -1),
  int(133, 0),
  int(134, -1),
  int(139, 0),
  int(140, 0),
  int(143, 0),
];

/** Attributes that cudaDeviceProp does not have. */
const others = (gpu: Gpu): readonly (readonly [number, number])[] => [
  [13, gpu.clock],
  [17, 0],
  [20, 0],
  [36, gpu.memoryClock],
  [69, 268_435_456],
  [87, gpu.major >= 8 && gpu.minor === 0 ? 2 : 32],
  [92, 0],
  [93, 0],
  [94, 0],
  [96, 0],
  [98, 0],
  [102, 1],
  [103, 0],
  [104, 0],
  [105, 0],
  [107, 0],
  [110, 0],
  [122, 1],
  [123, 1],
  [124, 0],
  [126, 1],
  [127, 0],
  [128, 0],
  [132, 0],
  [135, 0],
  [138, 0],
  [141, 0],
  [142, 0],
  [144, 0],
  [145, 0],
  [147, 0],
];

const propertiesOf = (gpu: Gpu, device: number): readonly Property[] => [
  ...limits(gpu),
  ...textures,
  ...abilities(gpu, device),
];

/** The 16 bytes by which a device is told from others. */
export const uuidOf = (device: number): Uint8Array =>
  Uint8Array.from({ length: 16 }, (_, i) => (i === 15 ? device : 0x4c + i));

/** The bytes of a cudaDeviceProp. */
export function propertyBytes(gpu: Gpu, device: number): Uint8Array {
  const out = new Uint8Array(propertiesBytes);
  const view = new DataView(out.buffer);
  out.set(new TextEncoder().encode(gpu.name));
  out.set(uuidOf(device), nameBytes);
  let at = nameBytes + 16 + 8;
  view.setUint32(at, 1, true);
  at += 4;
  for (const [bytes, , ...values] of propertiesOf(gpu, device)) {
    at = Math.ceil(at / bytes) * bytes;
    for (const value of values) {
      if (bytes === 8) view.setBigUint64(at, BigInt(value), true);
      else view.setInt32(at, value, true);
      at += bytes;
    }
  }
  return out;
}

/** The value of an attribute, or null if there is none of that number. */
export function attributeOf(gpu: Gpu, device: number, attribute: number): number | null {
  const other = others(gpu).find(([number]) => number === attribute);
  if (other !== undefined) return other[1];
  for (const [, attributes, ...values] of propertiesOf(gpu, device)) {
    const i = attributes.indexOf(attribute);
    if (i >= 0) return values[Math.min(i, values.length - 1)]!;
  }
  return null;
}

/** The name of a device on its bus. */
export const busId = (device: number): string =>
  `0000:${(device + 1).toString(16).padStart(2, "0").toUpperCase()}:00.0`;

/** Limits of a device, by number, with what they are before a program sets them; no others are known. */
export const defaultLimits: ReadonlyMap<number, bigint> = new Map([
  [0, 1024n],
  [1, 1n << 20n],
  [2, 8n << 20n],
  [3, 2n],
  [4, 2048n],
  [5, 64n],
  [6, 0n],
]);

/** Limits by number. */
export const limitNumber = { stackSize: 0, printfBytes: 1, heapBytes: 2, persistingL2: 6 } as const;

/** Bytes of the heap of device code before a program sets them. */
export const defaultHeapBytes = Number(defaultLimits.get(limitNumber.heapBytes));

/** The most bytes that a heap of device code can have. */
export const maxHeap = BigInt(wire.arenaBytes / 2);
