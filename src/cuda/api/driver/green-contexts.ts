import { errors, fail, require } from "../../base/errors.ts";
import { Context } from "../../state/contexts.ts";
import { capabilityOf, type Gpu } from "../../state/gpu.ts";
import { MultiprocessorSet } from "../../state/multiprocessors.ts";
import { Operation } from "../../work/operation.ts";
import type { Event, Stream } from "../../work/stream.ts";
import { Bytes, type Call, type Handlers } from "../call.ts";
import { forbidCaptured, forbidCapturedEvent, waitForEvent } from "../order.ts";
import { createStream } from "../streams.ts";
import { contextAt, contextOfStream, deviceNumber, removeContext } from "./contexts.ts";
import { currentContext, inContext, initialized, primaryOf } from "./driver-call.ts";

/** Bytes of CUdevResource: the type, room of the driver's own, and at 96 three words of multiprocessors. */
const resourceBytes = 144;
const setAt = 8;
const wordsAt = 96;
/** CU_DEV_RESOURCE_TYPE_SM: the only type there is here. One of zeros is none. */
const multiprocessorType = 1;

/** Flags of cuDevSmResourceSplitByCount. */
const splitFlags = { ignoreCoscheduling: 1, largestClusters: 2 } as const;

/** How few multiprocessors a part may have, and what their number is a multiple of: the manual, "Green Contexts". */
function granularityOf(gpu: Gpu): { readonly least: number; readonly multiple: number } {
  if (capabilityOf(gpu) >= 90) return { least: 8, multiple: 8 };
  return gpu.major === 8 ? { least: 4, multiple: 2 } : { least: 2, multiple: 2 };
}

/** Multiprocessors that are taken one by one, whatever they share. */
const finest = { least: 2, multiple: 2 } as const;

/** Writes a CUdevResource that stands for a set of multiprocessors, or, where none are left, a resource of no type. */
function putResource(call: Call, target: bigint, set: MultiprocessorSet | null): void {
  const out = new Bytes(resourceBytes);
  if (set !== null) {
    const { least, multiple } = set.isCoscheduled ? granularityOf(call.process.gpu) : finest;
    out.u32(0, multiprocessorType).u64(setAt, call.process.multiprocessorSets.add(set));
    out
      .u32(wordsAt, set.count)
      .u32(wordsAt + 4, least)
      .u32(wordsAt + 8, multiple);
  }
  call.poke(target, out.data);
}

/** The set that a CUdevResource of the program stands for. Throws if it is none. */
function resourceAt(call: Call, address: bigint): MultiprocessorSet {
  const view = call.host.view(address, resourceBytes);
  require(view.getUint32(0, true) === multiprocessorType, errors.invalidResourceType);
  return call.process.multiprocessorSets.get(view.getBigUint64(setAt, true), errors.invalidValue);
}

const requireType = (call: Call, i: number): void =>
  require(call.uint(i) === multiprocessorType, errors.invalidResourceType);

const allOf = (call: Call, device: number): MultiprocessorSet =>
  new MultiprocessorSet({ device, count: call.process.gpu.multiprocessors });

/** context, resource, type: all multiprocessors of its device, unless it is a green one */
const resourceOf = (at: (call: Call, i: number) => Context | null) =>
  initialized((call) => {
    const context = at(call, 0);
    const target = call.target(1);
    requireType(call, 2);
    const { green, device } = context ?? fail(errors.deviceUninitialized);
    putResource(call, target, green ?? allOf(call, device));
    return 0;
  });

/** results, how many, input, rest, flags, least count of each */
const split = initialized((call) => {
  const [results, counter] = [call.address(0), call.target(1)];
  const input = resourceAt(call, call.target(2));
  const [flags, asked] = [call.uint(4), call.uint(5)];
  require((flags & ~(splitFlags.ignoreCoscheduling | splitFlags.largestClusters)) === 0);
  const { gpu } = call.process;
  require((flags & splitFlags.largestClusters) === 0 || capabilityOf(gpu) >= 90);
  require(asked <= input.count);
  // Parts cannot be divided again before a green context has them.
  require(input.origin === null, errors.invalidResourceConfiguration);
  const isCoscheduled = (flags & splitFlags.ignoreCoscheduling) === 0;
  const { least, multiple } = isCoscheduled ? granularityOf(gpu) : finest;
  const count = Math.max(least, Math.ceil(asked / multiple) * multiple);
  const possible = Math.floor(input.count / count);
  if (results === 0n) {
    call.set32(counter, possible);
    return 0;
  }
  const groups = Math.min(call.host.u32(counter), possible);
  for (let i = 0; i < groups; i++) {
    const part = new MultiprocessorSet({ device: input.device, count, isCoscheduled, origin: input });
    putResource(call, results + BigInt(resourceBytes * i), part);
  }
  call.set32(counter, groups);
  const left = input.count - groups * count;
  const rest =
    left === 0 ? null : new MultiprocessorSet({ device: input.device, count: left, isCoscheduled, origin: input });
  if (call.address(3) !== 0n) putResource(call, call.address(3), rest);
  return 0;
});

/** descriptor, resources, how many: several have to be parts of one division */
const describe = initialized((call) => {
  const target = call.target(0);
  const count = call.uint(2);
  require(count >= 1 && count <= call.process.gpu.multiprocessors);
  const address = call.target(1);
  const sets = Array.from({ length: count }, (_, i) => resourceAt(call, address + BigInt(resourceBytes * i)));
  const [first] = sets;
  require(new Set(sets).size === count &&
    sets.every(({ origin }) => origin === first!.origin) &&
    (count === 1 || first!.origin !== null), errors.invalidResourceConfiguration);
  const { device, isCoscheduled } = first!;
  const whole = new MultiprocessorSet({ device, count: sets.reduce((sum, set) => sum + set.count, 0), isCoscheduled });
  call.set64(target, call.process.multiprocessorSets.add(whole));
  return 0;
});

/** The green context that argument `i` names. Throws if there is none. */
function greenAt(call: Call, i: number): Context {
  const context = contextAt(call, i);
  require(context.green !== null, errors.deviceUninitialized);
  return context;
}

/** context, descriptor, device, flags */
const create = initialized((call) => {
  const target = call.target(0);
  const set = call.process.multiprocessorSets.get(call.address(1), errors.invalidValue);
  const device = deviceNumber(call, 2);
  // CU_GREEN_CTX_DEFAULT_STREAM is required.
  require(call.uint(3) === 1 && set.device === device);
  call.process.device(device);
  primaryOf(call.process, device).references++;
  const context = new Context(device, 0, false, set);
  call.set64(target, call.process.contexts.add(context, context.handle));
  return 0;
});

const destroy = initialized((call) => {
  const context = greenAt(call, 0);
  removeContext(call, context);
  primaryOf(call.process, context.device).references--;
  return 0;
});

/** The streams of a context. Those of the primary one are all that belong to no other. */
const streamsOf = ({ process }: Call, context: Context): readonly Stream[] =>
  [...process.streams.values()].filter((stream) => {
    const own = process.streamContexts.get(stream);
    return own === undefined ? context.isPrimary && stream.device === context.device : own === context;
  });

const eventAt = (call: Call, i: number): Event => call.process.events.get(call.address(i));

/** context, event: marks where all streams of the context have come to */
const record = (at: (call: Call, i: number) => Context) =>
  initialized((call) => {
    const context = at(call, 0);
    const event = eventAt(call, 1);
    require(event.device === context.device, errors.invalidResourceHandle);
    const streams = streamsOf(call, context);
    for (const stream of streams) forbidCaptured(call, stream);
    event.captured = null;
    event.recorded = new Operation(() => {
      event.time = performance.now();
    });
    for (const { last } of streams) event.recorded.after(last);
    event.recorded.submit();
    return 0;
  });

/** context, event: lets all streams of the context wait */
const wait = (at: (call: Call, i: number) => Context) =>
  initialized((call) => {
    const context = at(call, 0);
    const event = eventAt(call, 1);
    forbidCapturedEvent(call, event);
    for (const stream of streamsOf(call, context)) {
      forbidCaptured(call, stream);
      waitForEvent(call, stream, event);
    }
    return 0;
  });

export const greenContextCalls: Handlers = {
  /** device, resource, type */
  cuDeviceGetDevResource: initialized((call) => {
    const device = deviceNumber(call, 0);
    const target = call.target(1);
    requireType(call, 2);
    putResource(call, target, allOf(call, device));
    return 0;
  }),
  /** Null is the current context. */
  cuCtxGetDevResource: resourceOf((call, i) => (call.address(i) === 0n ? currentContext(call) : contextAt(call, i))),
  cuGreenCtxGetDevResource: resourceOf(greenAt),
  cuDevSmResourceSplitByCount: split,
  cuDevResourceGenerateDesc: describe,
  cuGreenCtxCreate: create,
  cuGreenCtxDestroy: destroy,
  /** Both have one handle. */
  cuCtxFromGreenCtx: initialized((call) => {
    const target = call.target(0);
    call.set64(target, greenAt(call, 1).handle);
    return 0;
  }),
  cuGreenCtxGetId: initialized((call) => {
    const current = currentContext(call);
    const context = call.address(0) === 0n ? current : greenAt(call, 0);
    require(context !== null && context.green !== null, errors.deviceUninitialized);
    call.set64(call.target(1), context.handle);
    return 0;
  }),
  /** stream, context, flags, priority */
  cuGreenCtxStreamCreate: initialized((call) => {
    const context = greenAt(call, 1);
    // CU_STREAM_NON_BLOCKING is required.
    require(call.uint(2) === 1);
    return createStream(call, 1, call.int(3), context);
  }),
  /** stream, context */
  cuStreamGetGreenCtx: inContext((call) => {
    const target = call.target(1);
    const context = contextOfStream(call, 0);
    call.set64(target, context.green === null ? 0n : context.handle);
    return 0;
  }),
  cuGreenCtxRecordEvent: record(greenAt),
  cuGreenCtxWaitEvent: wait(greenAt),
  cuCtxRecordEvent: record(contextAt),
  cuCtxWaitEvent: wait(contextAt),
};
