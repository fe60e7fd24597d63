import { elementTypes } from "lanewise";
import { formatValue, type Session, type TypedBits } from "lanewise/debugger";
import { windows } from "lanewise/ir";
import type { AccessLog, LoggedSpace } from "./access-log.ts";
import type { EngineRequests, MemoryMap, MemoryRegion } from "./protocol.ts";

type ElementType = MemoryRegion["type"];

interface Region extends MemoryRegion {
  readonly space: LoggedSpace;
  /** The offset in device memory, or the address in the window of shared memory. */
  readonly start: number;
  readonly size: number;
  readonly read: (at: number, bytes: number) => Uint8Array;
}

const sizes: Readonly<Record<ElementType, number>> = {
  ...{ u8: 1, s8: 1, u16: 2, s16: 2, f16: 2, bf16: 2 },
  ...{ u32: 4, s32: 4, f32: 4, u64: 8, s64: 8, f64: 8 },
};

/** Memory that one may look at: buffers, variables, and the shared memory of a block. */
export function mapOf(
  session: Session,
  log: AccessLog,
  types: ReadonlyMap<string, string>,
  { region: wanted, first, count, block }: EngineRequests["map"]["args"],
): MemoryMap {
  const regions = regionsOf(session, types, block);
  const shown = regions.map(({ id, label, type, elements }) => ({ id, label, type, elements }));
  const region = regions.find(({ id }) => id === wanted) ?? log.firstWritten(regions) ?? regions[0];
  if (region === undefined) {
    return { regions: [], region: "", first: 0, values: [], writers: [], now: [], isCut: false };
  }
  const from = Math.max(0, Math.min(first, region.elements - 1));
  const units = Math.max(0, Math.min(count, region.elements - from));
  const start = region.start + from * region.size;
  const { writers, now } = log.history(region.space, { start, units, size: region.size }, session.now);
  const bytes = region.read(start, units * region.size);
  const values = Array.from({ length: units }, (_, i) => {
    const part: TypedBits = { bytes: bytes.slice(i * region.size, (i + 1) * region.size), type: region.type };
    return part.bytes.length < region.size ? "" : formatValue(part);
  });
  return { regions: shown, region: region.id, first: from, values, writers, now, isCut: log.isFull };
}

function regionsOf(session: Session, types: ReadonlyMap<string, string>, block: number): Region[] {
  const { grid, blocks } = session.execution;
  const { memory } = grid;
  const regions: Region[] = [];
  const add = (name: string, label: string, from: Pick<Region, "space" | "start" | "read">, bytes: number): void => {
    if (bytes === 0) return;
    const known = types.get(name);
    const type = elementTypes.find((t) => t === known) ?? (bytes % 4 === 0 ? "u32" : "u8");
    const size = sizes[type];
    regions.push({ id: label, label, type, size, elements: Math.floor(bytes / size), ...from });
  };
  const cta = blocks.find(({ ticket }) => ticket === block) ?? null;
  if (cta !== null) {
    const read = (at: number, bytes: number): Uint8Array => {
      const begin = at - windows.shared.start;
      return cta.shared.u8.slice(begin, begin + bytes);
    };
    for (const { name, start, end } of grid.sharedExtents) {
      add(name, `shared ${name} of block ${block}`, { space: { shared: block }, start, read }, end - start);
    }
  }
  for (const allocation of memory.allocations) {
    if (allocation.freed || allocation.perThread) continue;
    const { name, start, end } = allocation;
    const read = (at: number, bytes: number): Uint8Array => memory.views.u8.slice(at, at + bytes);
    const plain = /^buffer "(.*)"$/.exec(name)?.[1] ?? name;
    add(plain, plain, { space: "global", start, read }, end - start);
  }
  return regions;
}
