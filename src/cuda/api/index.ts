import type { Handler } from "./call.ts";
import { deviceCalls } from "./devices.ts";
import { launchCalls } from "./launch.ts";
import { memoryCalls } from "./memory.ts";
import { streamCalls } from "./streams.ts";

/** What the server does for each entry point, by its name without the endings `_ptsz` and `_ptds`. */
export const handlers: ReadonlyMap<string, Handler> = new Map(
  [deviceCalls, launchCalls, memoryCalls, streamCalls].flatMap((calls) => Object.entries(calls)),
);
