import type { Observer } from "../machine/events.ts";
import type { SanitizerName } from "../machine/launch.ts";
import { AsyncCopies } from "./race/async-copies.ts";
import { callSanitizer } from "./call.ts";
import { InitSanitizer } from "./init.ts";
import { WrittenShared } from "./init/written-shared.ts";
import { memorySanitizer } from "./memory.ts";
import { RaceSanitizer } from "./race.ts";
import { ProxyFences } from "./race/proxy-fences.ts";
import { TensorOperations } from "./race/tensor-operations.ts";
import { syncSanitizer } from "./sync.ts";
import { WarpgroupRegisters } from "./race/warpgroup.ts";
import { undefinedSanitizer } from "./undefined.ts";

const byName: Partial<Readonly<Record<SanitizerName, () => Observer | readonly Observer[]>>> = {
  call: () => callSanitizer,
  init: () => new InitSanitizer(),
  memory: () => memorySanitizer,
  race: () => [
    new RaceSanitizer(),
    new AsyncCopies(),
    new ProxyFences(),
    new WarpgroupRegisters(),
    new TensorOperations(),
  ],
  sync: () => syncSanitizer,
};

/** Creates the observers of the sanitizers that are chosen for one launch. */
export function sanitizersFor(names: Iterable<SanitizerName>): Observer[] {
  const wanted = [...names];
  if (wanted.length === 0) return [];
  return [...wanted.flatMap((name) => byName[name]?.() ?? []), undefinedSanitizer];
}

/**
 * Creates the sanitizers that see what units of the machine do to shared memory in compiled code, with mbarriers and
 * all that orders accesses. What registers hold they do not see. `found`: called where there may be something to report
 * that they cannot describe.
 */
export function unitSanitizersFor(names: Iterable<SanitizerName>, found: () => void): Observer[] {
  const wanted = new Set(names);
  const ofRace = (): Observer[] => [
    new RaceSanitizer(found),
    new AsyncCopies(),
    new ProxyFences(),
    new WarpgroupRegisters("memory"),
  ];
  return [...(wanted.has("race") ? ofRace() : []), ...(wanted.has("init") ? [new WrittenShared(found)] : [])];
}
