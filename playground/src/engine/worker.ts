/// <reference lib="webworker" />
import { exploreProgram } from "./explore.ts";
import { openFiles } from "./open-files.ts";
import { profileProgram } from "./profile.ts";
import { findingsOfError } from "./program.ts";
import { propose } from "./propose.ts";
import type { AnswerMessage, EngineRequests, RequestKind, RequestMessage } from "./protocol.ts";
import { runProgram } from "./run.ts";
import { WatchedProgram } from "./watched-program.ts";

type Handlers = {
  readonly [K in RequestKind]: (
    args: EngineRequests[K]["args"],
    onProgress: (progress: unknown) => void,
  ) => EngineRequests[K]["result"] | Promise<EngineRequests[K]["result"]>;
};

let watched: WatchedProgram | null = null;

function theWatched(): WatchedProgram {
  if (watched === null) throw new Error("no program has been run yet");
  return watched;
}

const handlers: Handlers = {
  run: runProgram,
  async trace(args) {
    try {
      watched = null;
      watched = await WatchedProgram.open(args);
      return await watched.record(args);
    } catch (error) {
      return findingsOfError(error);
    }
  },
  record: (args) => theWatched().record(args),
  move: (args) => theWatched().move(args),
  map: (args) => theWatched().map(args),
  command: (args) => theWatched().command(args),
  open: openFiles,
  propose,
  profile: profileProgram,
  explore: exploreProgram,
};

const post = (message: AnswerMessage): void => postMessage(message);

// One request after the other: a debugger's must not overtake each other.
let last: Promise<void> = Promise.resolve();

async function answer({ id, kind, args }: RequestMessage): Promise<void> {
  try {
    const handler = handlers[kind] as (args: unknown, onProgress: (progress: unknown) => void) => unknown;
    post({ id, result: await handler(args, (progress) => post({ id, progress })) });
  } catch (error) {
    post({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

addEventListener("message", ({ data }: MessageEvent<RequestMessage>) => {
  last = last.then(() => answer(data));
});
