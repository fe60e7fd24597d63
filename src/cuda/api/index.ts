import type { Handler } from "./call.ts";
import { deviceCalls } from "./devices.ts";
import { allGraphCalls } from "./graphs/index.ts";
import { launchCalls } from "./launch.ts";
import { memoryCalls } from "./memory.ts";
import { occupancyCalls } from "./occupancy.ts";
import { regionCalls } from "./regions.ts";
import { streamCalls } from "./streams.ts";
import { symbolCalls } from "./symbols.ts";

/** What the server does for each entry point, by its name without the endings `_ptsz` and `_ptds`. */
export const handlers: ReadonlyMap<string, Handler> = new Map(
  [allGraphCalls, deviceCalls, launchCalls, memoryCalls, occupancyCalls, regionCalls, streamCalls, symbolCalls].flatMap(
    (calls) => Object.entries(calls),
  ),
);
