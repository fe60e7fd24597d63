import { forwardPhi, type Graph, type Node, resolved } from "./graph.ts";

/** Replaces nodes by those that stand for them, and drops phis that are no choice. */
export function settle(graph: Graph): void {
  for (let changed = true; changed; ) {
    changed = false;
    for (const block of graph.blocks) {
      for (const phi of block.phis) {
        if (phi.forward === null && forwardPhi(phi)) changed = true;
      }
    }
  }
  for (const node of graph.nodes) node.args = node.args.map(resolved);
  for (const block of graph.blocks) {
    block.phis = block.phis.filter((phi) => phi.forward === null);
    const { end } = block;
    if (end.kind === "branch" || end.kind === "table") end.on = resolved(end.on);
    else if (end.kind === "return") end.values = end.values.map(resolved);
  }
}

/** Whether a node does something besides giving a value. */
export const isEffect = (node: Node): boolean =>
  node.ty === null || node.op === "call" || node.op === "callIndirect" || node.op.includes("atomic");

/** Removes nodes that nothing needs. */
export function dropDead(graph: Graph): void {
  const live = new Set<Node>();
  const work: Node[] = [];
  const need = (node: Node): void => {
    if (live.has(node)) return;
    live.add(node);
    work.push(node);
  };
  for (const { nodes, end } of graph.blocks) {
    for (const node of nodes) if (isEffect(node)) need(node);
    if (end.kind === "branch" || end.kind === "table") need(end.on);
    else if (end.kind === "return") end.values.forEach(need);
  }
  for (let node = work.pop(); node !== undefined; node = work.pop()) node.args.forEach(need);
  for (const block of graph.blocks) {
    block.nodes = block.nodes.filter((node) => live.has(node));
    block.phis = block.phis.filter((node) => live.has(node));
  }
}
