/// <reference lib="webworker" />
import type { AnswerMessage, EngineRequests, RequestKind, RequestMessage } from "./protocol.ts";
import { runProgram } from "./run.ts";
import { traceWarp } from "./trace.ts";

type Handlers = {
  readonly [K in RequestKind]: (
    args: EngineRequests[K]["args"],
    onProgress: (progress: unknown) => void,
  ) => EngineRequests[K]["result"] | Promise<EngineRequests[K]["result"]>;
};

const handlers: Handlers = {
  run: runProgram,
  trace: traceWarp,
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
