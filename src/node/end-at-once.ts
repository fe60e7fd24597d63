import * as nodeModule from "node:module";
import { loadAddon } from "./exec/native.ts";

/**
 * Ends the process once its output has been written. Node by itself waits until V8 has optimized the functions that it
 * is at: more than a second, if they are large. It still does where there is no native part, and where somebody wants
 * to know of the end (`node --cpu-prof`): then this returns.
 */
export async function endAtOnce(status: number): Promise<void> {
  const { NODE_OPTIONS, NODE_V8_COVERAGE } = process.env;
  if (process.execArgv.length > 0 || NODE_OPTIONS !== undefined || NODE_V8_COVERAGE !== undefined) return;
  const addon = loadAddon();
  if (addon === null) return;
  await Promise.all([written(process.stdout), written(process.stderr)]);
  process.once("exit", (last) => {
    // What Node does at the end (Node 22 and later).
    (nodeModule as { flushCompileCache?: () => void }).flushCompileCache?.();
    addon.end(last);
  });
  process.exit(status);
}

/** Waits until all that was given to a stream has left the process, or cannot. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write("", () => resolve());
  });
