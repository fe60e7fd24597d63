import type { Handlers } from "../call.ts";
import { captureCalls } from "./capture.ts";
import { edgeCalls } from "./edges.ts";
import { execCalls } from "./exec.ts";
import { genericCalls } from "./generic.ts";
import { graphCalls } from "./graphs.ts";
import { nodeCalls } from "./nodes.ts";

/** All entry points of graphs, and of the capture of streams as graphs. */
export const allGraphCalls: Handlers = {
  ...captureCalls,
  ...edgeCalls,
  ...execCalls,
  ...genericCalls,
  ...graphCalls,
  ...nodeCalls,
};
