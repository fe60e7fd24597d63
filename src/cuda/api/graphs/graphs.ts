import { errors, require } from "../../base/errors.ts";
import { Counted, Graph, nodeType, type Task } from "../../work/graph.ts";
import { allNodes } from "../../work/graph-exec.ts";
import { isMemoryTask } from "../../run/tasks.ts";
import { itemKind } from "../../base/wire.ts";
import type { Call, Handlers } from "../call.ts";
import { requireRemovable } from "./edges.ts";
import { addGraph, answerList, graphAt, nodeAt, removeGraph, removeNode } from "./handles.ts";

const cannotClone = (task: Task): boolean => isMemoryTask(task) || task.type === nodeType.conditional;

const objectAt = (call: Call, i: number): Counted => call.process.userObjects.get(call.address(i), errors.invalidValue);

/** Names of the kinds of nodes in pictures. */
const typeNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(nodeType).map(([name, type]) => [type, name]),
);

/** A graph as a picture in the language of Graphviz. */
function dotOf(graph: Graph): string {
  const lines = [...graph.nodes].map(({ handle, task }) => {
    const name =
      "spec" in task ? ` ${(task as { spec: { kernel: { kernel: { name: string } } } }).spec.kernel.kernel.name}` : "";
    return `  "${handle}" [label="${typeNames[task.type]}${name}"];`;
  });
  const arrows = graph.edges.map(([from, to]) => `  "${from.handle}" -> "${to.handle}";`);
  return ["digraph dot {", ...lines, ...arrows, "}", ""].join("\n");
}

export const graphCalls: Handlers = {
  cudaGraphCreate(call) {
    const target = call.target(0);
    require(call.uint(1) === 0);
    call.set64(target, addGraph(call, new Graph()));
    return 0;
  },
  cudaGraphDestroy(call) {
    const graph = graphAt(call, 0);
    removeGraph(call, graph);
    for (const [object, count] of graph.held) object.release(count);
    return 0;
  },
  /** clone, original */
  cudaGraphClone(call) {
    const target = call.target(0);
    const graph = graphAt(call, 1);
    for (const { task } of allNodes(graph)) require(!cannotClone(task), errors.notSupported);
    call.set64(target, addGraph(call, graph.clone()));
    return 0;
  },
  /** node, node of the original, clone */
  cudaGraphNodeFindInClone(call) {
    const target = call.target(0);
    const original = nodeAt(call, 1);
    const found = [...allNodes(graphAt(call, 2))].find((node) => node.original === original);
    require(found !== undefined);
    call.set64(target, found.handle);
    return 0;
  },
  cudaGraphGetNodes(call) {
    const handles = [...graphAt(call, 0).nodes].map(({ handle }) => handle);
    return answerList(call, [call.address(1), call.address(2)], handles);
  },
  cudaGraphGetRootNodes(call) {
    const handles = graphAt(call, 0).roots.map(({ handle }) => handle);
    return answerList(call, [call.address(1), call.address(2)], handles);
  },
  cudaGraphDestroyNode(call) {
    const node = nodeAt(call, 0);
    requireRemovable(node.graph);
    require(!cannotClone(node.task), errors.notSupported);
    require(!node.isDeviceUpdatable);
    removeNode(call, node);
    return 0;
  },
  /** graph, path, flags */
  cudaGraphDebugDotPrint(call) {
    const text = dotOf(graphAt(call, 0));
    call.process.writeFile(call.host.string(call.target(1)), text);
    return 0;
  },
  /** object, pointer, destructor, count, flags */
  cudaUserObjectCreate(call) {
    const target = call.target(0);
    const [data, destroy, count] = [call.address(1), call.target(2), call.uint(3)];
    require(count > 0 && call.uint(4) === 1);
    const { process } = call;
    call.item(itemKind.callbacks, 0n);
    const object = new Counted(count, () => {
      process.userObjects.remove(object.handle);
      void process.callbacks.call({ kind: 0, function: destroy, data, stream: 0n, status: 0 });
    });
    call.set64(target, process.userObjects.add(object, object.handle));
    return 0;
  },
  cudaUserObjectRetain(call) {
    require(call.uint(1) > 0);
    objectAt(call, 0).retain(call.uint(1));
    return 0;
  },
  cudaUserObjectRelease(call) {
    const object = objectAt(call, 0);
    require(call.uint(1) > 0 && call.uint(1) <= object.count);
    object.release(call.uint(1));
    return 0;
  },
  /** graph, object, count, flags: 1 takes over references of the caller */
  cudaGraphRetainUserObject(call) {
    const { held } = graphAt(call, 0);
    const object = objectAt(call, 1);
    const count = call.uint(2);
    require(count > 0 && call.uint(3) <= 1);
    if (call.uint(3) === 0) object.retain(count);
    held.set(object, (held.get(object) ?? 0) + count);
    return 0;
  },
  cudaGraphReleaseUserObject(call) {
    const { held } = graphAt(call, 0);
    const object = objectAt(call, 1);
    const has = held.get(object) ?? 0;
    const count = Math.min(call.uint(2), has);
    require(count > 0);
    if (has === count) held.delete(object);
    else held.set(object, has - count);
    object.release(count);
    return 0;
  },
};
