import { require } from "../base/errors.ts";
import type { Stream } from "../work/stream.ts";
import { clampedPriority } from "./streams.ts";
import { attributeBytes, attributeWord, hasAttribute, launchAttribute } from "./launch-attributes.ts";
import { Bytes, type Call, type Handlers, type Status } from "./call.ts";

/** What an attribute is before a program sets it. */
function initial(stream: Stream, id: number): Uint8Array {
  const out = new Bytes(attributeBytes);
  if (id === launchAttribute.priority) out.u32(0, stream.priority);
  if (id === launchAttribute.synchronizationPolicy) out.u32(0, 1);
  if (id === launchAttribute.memorySyncDomainMap) out.u32(0, 0x100);
  return out.data;
}

/** stream, attribute, value */
function set(call: Call): Status {
  const stream = call.stream(0);
  const id = call.uint(1);
  const value = call.host.read(call.target(2), attributeBytes);
  require(hasAttribute("stream", id));
  if (id === launchAttribute.priority) stream.priority = clampedPriority(attributeWord(value) | 0);
  else stream.attributes.set(id, value);
  return 0;
}

function get(call: Call): Status {
  const stream = call.stream(0);
  const id = call.uint(1);
  const target = call.target(2);
  require(hasAttribute("stream", id));
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
