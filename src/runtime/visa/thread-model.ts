import { fileLayout, surfaceIndex, type WorkItemModel } from "../../ir/index.ts";
import type { Surface, ThreadModel, ThreadStart } from "../../machine/state/thread-model.ts";
import { payloadPlaces } from "../../visa/lower/layout.ts";
import type { BoundRoutine } from "../../visa/symbols.ts";
import type { ArgumentValue } from "./arguments.ts";
import type { DataSurfaces, Payload } from "./payload.ts";
import { bindlessIndex, dataIndex, stateOfThread, type ThreadMemory } from "./thread-memory.ts";
import type { KernelInfo } from "./zeinfo.ts";

/** The slots, among T0 to T5, of the surfaces that are predefined when a thread begins. */
const slots = { slm: 0, scratch: 5 } as const;

/** Describes the initial state of the threads of a launch, and their surfaces. */
export function threadModel(
  routine: BoundRoutine,
  payload: Payload,
  threads: ThreadMemory,
  {
    width,
    surfaces,
    items,
  }: {
    readonly width: number;
    readonly surfaces: ReadonlyMap<number, Surface>;
    readonly items: WorkItemModel | null;
  },
): ThreadModel {
  // Inputs that extend beyond the payload are cut off there.
  const places = payloadPlaces(routine)
    .map(({ offset, size, at }) => ({ offset, size: Math.min(size, payload.bytes - offset), at }))
    .filter(({ size }) => size > 0);
  const start = (file: DataView, thread: ThreadStart): void => {
    const registers = payload.of(thread);
    for (const { offset, size, at } of places) copyBytes(registers, offset, file, at, size);
    const set = ({ at }: { readonly at: number }, value: number, word = 0): void =>
      file.setUint32(at + 4 * word, value, true);
    const number = threads.numberOf(thread);
    const { sr0, msg0 } = stateOfThread(number, routine.platform);
    set(fileLayout.hw_id, number);
    set(fileLayout.sr0, sr0);
    set(fileLayout.sr0, thread.lanes, 2);
    set(fileLayout.ce0, thread.lanes);
    set(fileLayout.msg0, msg0);
    set(fileLayout.thread_x, thread.index);
    set(fileLayout.group_id_x, thread.group[0]);
    set(fileLayout.group_id_y, thread.group[1]);
    set(fileLayout.group_id_z, thread.group[2]);
    set(fileLayout.surfaces, surfaceIndex.slm, slots.slm);
    set(fileLayout.surfaces, threads.scratchSurface(number), slots.scratch);
  };
  return {
    width,
    start,
    payload: places,
    ...(items === null ? {} : { items }),
    surfaces: new Map([...surfaces, ...threads.surfaces]),
    ...(threads.residentGroups === null ? {} : { residentGroups: threads.residentGroups }),
  };
}

/** Copies bytes with a loop, which is faster than a call for the few words of an input. */
function copyBytes(from: DataView, start: number, to: DataView, at: number, bytes: number): void {
  let done = 0;
  for (; done + 4 <= bytes; done += 4) to.setUint32(at + done, from.getUint32(start + done, true), true);
  for (; done < bytes; done++) to.setUint8(at + done, from.getUint8(start + done));
}

/** The surfaces of a compiled kernel's arguments: those of its binding table, and the bindless ones. */
export function argumentSurfaces(
  info: KernelInfo,
  args: readonly ArgumentValue[],
  data: DataSurfaces,
): Map<number, Surface> {
  const surfaces = new Map<number, Surface>([
    [dataIndex.const_base, data.const_base],
    [dataIndex.global_base, data.global_base],
  ]);
  const add = (index: number, argument: number): void => {
    const value = args[argument]!;
    if (value.kind === "pointer") surfaces.set(index, { address: value.address, bytes: value.bytes });
  };
  for (const { index, argument } of info.bindings) add(index, argument);
  for (const { addressMode, argument } of info.payload) {
    if (addressMode === "bindless" && argument !== null) add(bindlessIndex(argument), argument);
  }
  return surfaces;
}
