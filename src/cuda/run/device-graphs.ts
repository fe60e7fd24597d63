import type { DeviceGraphs } from "../../machine/state/device-work.ts";
import { errors } from "../base/errors.ts";
import type { ProcessState } from "../state/process-state.ts";
import type { GraphLaunch } from "../work/graph.ts";

/** What the kernels of a launch of a graph may do with graphs. */
export const graphsFor = (run: GraphLaunch, { graphExecs }: ProcessState): DeviceGraphs => ({
  current: run.exec.isDeviceLaunchable ? Number(run.exec.handle) : 0,
  refusal(launch, earlier) {
    const exec = graphExecs.find(launch.graph);
    return exec === undefined ? errors.invalidValue : run.refusal(exec, launch, earlier);
  },
  launch({ graph, turn }) {
    const exec = graphExecs.find(graph);
    // It may have been destroyed while the kernel ran.
    if (exec !== undefined) run.launch(exec, turn);
  },
  update(handle, update) {
    for (const [, exec] of graphExecs.entries()) {
      const node = exec.updatableNode(handle);
      if (node === null) continue;
      if (update.kind === "enabled") {
        exec.setEnabled(node, update.isEnabled);
        return 0;
      }
      const task = node.task.changed?.(update) ?? null;
      if (task === null) return errors.invalidValue;
      node.task = task;
      return 0;
    }
    return errors.invalidValue;
  },
});
