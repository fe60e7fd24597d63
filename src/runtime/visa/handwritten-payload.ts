import type { ThreadStart } from "../../machine/state/thread-model.ts";
import type { BoundRoutine } from "../../visa/symbols.ts";
import { bytesOf } from "../data/argument.ts";
import { elementInfo, type ElementType } from "../data/element.ts";
import { UsageError } from "../data/errors.ts";
import type { Parameter } from "./arguments.ts";
import { dwords, Payload, type PayloadContents, putR0, qword } from "./payload.ts";
import { roundUp } from "./thread-memory.ts";
import type { WorkSize } from "./work-size.ts";
import { greatest } from "./zeinfo.ts";

/** The contents of an `.input` of a hand-written kernel. */
export type KernelInput =
  /** The next argument of the launch: the address of a buffer (type "u64"), or a number of this type. */
  | { readonly name: string; readonly kind: "arg"; readonly type: ElementType }
  /** For each lane, the index of its work item in the launch. */
  | { readonly name: string; readonly kind: "lane-id"; readonly type: ElementType }
  /** The address of private memory of the thread. */
  | { readonly name: string; readonly kind: "stack"; readonly bytesPerThread: number };

/** The size of the private memory of each thread of a hand-written kernel, in bytes. */
export const stackBytes = (inputs: readonly KernelInput[]): number =>
  inputs.reduce((sum, input) => sum + (input.kind === "stack" ? roundUp(input.bytesPerThread, 64) : 0), 0);

/** The parameters for which a launch must give arguments. */
export const handwrittenParameters = (inputs: readonly KernelInput[]): Parameter[] =>
  inputs.flatMap(({ name, ...input }): Parameter[] => {
    if (input.kind !== "arg") return [];
    const { type } = input;
    if (type === "u64") return [{ kind: "pointer", name }];
    return [{ kind: "value", name, type, elements: 1, bytes: elementInfo[type].size }];
  });

/**
 * Lays out the payload of a hand-written kernel.
 *
 * @throws UsageError if the kernel has no input of a given name
 */
export function handwrittenPayload(
  routine: BoundRoutine,
  inputs: readonly KernelInput[],
  contents: PayloadContents,
): Payload {
  const { width, grfBytes, size, threads } = contents;
  const places = new Map(routine.inputs.map((input) => [input.variable.name, input]));
  const ends = routine.inputs.map((input) => input.offset + input.size);
  const payload = new Payload(Math.max(grfBytes, greatest(ends)));
  putR0(payload, contents);
  const args = [...contents.args];
  let stack = 0;
  for (const input of inputs) {
    const place = places.get(input.name);
    if (place === undefined) {
      const names = [...places.keys()].join(", ") || "none";
      throw new UsageError(`kernel "${routine.name}" has no input "${input.name}"; there are ${names}`);
    }
    const at = place.offset;
    // Values larger than their input are truncated.
    if (input.kind === "arg") {
      const value = args.shift()!;
      const bytes =
        value.kind === "value" ? value.bytes : value.kind === "pointer" ? qword(value.address) : dwords([0]);
      payload.put(at, bytes.subarray(0, place.size));
    } else if (input.kind === "stack") {
      const offset = stack;
      stack += roundUp(input.bytesPerThread, 64);
      payload.each((view, thread) => {
        const address = qword(threads.privateOf(threads.numberOf(thread)) + BigInt(offset));
        bytesOf(view).set(address.subarray(0, place.size), at);
      });
    } else {
      const { set, size: bytes } = elementInfo[input.type];
      const lanes = Math.min(width, Math.floor(place.size / bytes));
      payload.each((view, thread) => {
        for (let lane = 0; lane < lanes; lane++) set(view, at + lane * bytes, globalId(size, thread, width, lane));
      });
    }
  }
  return payload;
}

/** The index of a lane's work item in the launch, with x varying fastest. */
function globalId({ global, local }: WorkSize, { group, index }: ThreadStart, width: number, lane: number): number {
  const item = index * width + lane;
  const x = group[0] * local[0] + (item % local[0]);
  const y = group[1] * local[1] + (Math.floor(item / local[0]) % local[1]);
  const z = group[2] * local[2] + Math.floor(item / (local[0] * local[1]));
  return (z * global[1] + y) * global[0] + x;
}
