import type { Handler } from "./api/call.ts";
import { adviceCalls } from "./api/advice.ts";
import { atomicCapabilityCalls } from "./api/atomic-capabilities.ts";
import { batchCalls } from "./api/batches.ts";
import { deviceCalls } from "./api/devices.ts";
import { driverCalls } from "./api/driver/index.ts";
import { allGraphCalls } from "./api/graphs/index.ts";
import { launchCalls } from "./api/launch.ts";
import { logCalls } from "./api/logs.ts";
import { memoryCalls } from "./api/memory.ts";
import { occupancyCalls } from "./api/occupancy.ts";
import { poolCalls } from "./api/pools.ts";
import { regionCalls } from "./api/regions.ts";
import { streamAttributeCalls } from "./api/stream-attributes.ts";
import { streamCalls } from "./api/streams.ts";
import { symbolCalls } from "./api/symbols.ts";
import { arrayCalls } from "./api/textures/arrays.ts";
import { textureCalls } from "./api/textures/objects.ts";

/** What the server does for each entry point, by its name without the endings `_ptsz` and `_ptds`. */
export const handlers: ReadonlyMap<string, Handler> = new Map(
  [
    allGraphCalls,
    atomicCapabilityCalls,
    batchCalls,
    deviceCalls,
    driverCalls,
    launchCalls,
    logCalls("cuda"),
    memoryCalls,
    occupancyCalls,
    poolCalls,
    regionCalls,
    streamAttributeCalls,
    streamCalls,
    adviceCalls,
    symbolCalls,
    arrayCalls,
    textureCalls,
  ].flatMap((calls) => Object.entries(calls)),
);
