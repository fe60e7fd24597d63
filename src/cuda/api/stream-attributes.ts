import { errors, fail, require } from "../base/errors.ts";
import type { Stream } from "../work/stream.ts";
import { clampedPriority } from "./streams.ts";
import { Bytes, type Call, type Handlers, type Status } from "./call.ts";

/** Attributes of streams by number, with what they are before a program sets them: values of 64 bytes. */
const attributeBytes = 64;
const attribute = { policyWindow: 1, synchronization: 3, priority: 8, domainMap: 9, domain: 10 } as const;
const known: ReadonlySet<number> = new Set(Object.values(attribute));

function initial(stream: Stream, id: number): Uint8Array {
  const out = new Bytes(attributeBytes);
  if (id === attribute.priority) out.u32(0, stream.priority);
  if (id === attribute.synchronization) out.u32(0, 1);
  if (id === attribute.domainMap) out.u32(0, 0x100);
  return out.data;
}

/** stream, attribute, value */
function set(call: Call): Status {
  const stream = call.stream(0);
  const id = call.uint(1);
  const value = call.host.read(call.target(2), attributeBytes);
  require(known.has(id));
  if (id === attribute.priority) stream.priority = clampedPriority(new DataView(value.buffer).getInt32(0, true));
  else stream.attributes.set(id, value);
  return 0;
}

function get(call: Call): Status {
  const stream = call.stream(0);
  const id = call.uint(1);
  const target = call.target(2);
  if (!known.has(id)) return fail(errors.invalidValue);
  call.poke(target, stream.attributes.get(id) ?? initial(stream, id));
  return 0;
}

/** destination, source */
function copy(call: Call): Status {
  const [to, from] = [call.stream(0), call.stream(1)];
  require(to.device === from.device);
  to.priority = from.priority;
  for (const [id, value] of from.attributes) to.attributes.set(id, value);
  return 0;
}

/** What streams are told of themselves. None of it changes what a program computes. */
export const streamAttributeCalls: Handlers = {
  cudaStreamSetAttribute: set,
  cudaStreamGetAttribute: get,
  cudaStreamCopyAttributes: copy,
};
