import { ByteReader } from "../../src/cc/byte-reader.ts";
import { memoryOpOf, valueOpOf } from "../../src/cc/instructions.ts";
import { hasLane } from "../../src/wasm/memory-ops.ts";
import { immediateBytes } from "../../src/wasm/value-ops.ts";
import { readModule } from "../../src/cc/module-reader.ts";

/** What of a function matters to the liveness of its locals, as a tree. */
type Node =
  | { readonly kind: "get"; readonly local: number }
  | { readonly kind: "set"; readonly local: number }
  /** A branch to labels, counted from the innermost. `falls`: control may also go on. */
  | { readonly kind: "branch"; readonly labels: readonly number[]; readonly falls: boolean }
  | { readonly kind: "block" | "loop" | "if"; readonly body: readonly Node[]; readonly otherwise: readonly Node[] };

/** Skips the immediates of an instruction that neither moves locals nor control. */
function skip(code: ByteReader, opcode: number): void {
  if (opcode === 0xfc) code.skip(code.unsigned() === 0x0a ? 2 : 1);
  else if (opcode === 0x41 || opcode === 0x42) code.signed64();
  else if (opcode === 0x43 || opcode === 0x44) code.skip(opcode === 0x43 ? 4 : 8);
  else if (opcode === 0x10 || opcode === 0x23 || opcode === 0x24) code.unsigned();
  else if (opcode === 0x11 || opcode === 0x1c) code.skip(2);
  else {
    const second = opcode >= 0xfd ? code.unsigned() : opcode;
    const prefix = opcode >= 0xfd ? opcode : null;
    const access = memoryOpOf(prefix, second);
    const value = valueOpOf(prefix, second);
    if (opcode === 0xfd && second === 0x0c) code.skip(16);
    else if (access !== undefined) {
      code.unsigned();
      code.unsigned();
      if (hasLane(access)) code.skip(1);
    } else if (value !== undefined) code.skip(immediateBytes(value));
  }
}

function parse(code: ByteReader): { readonly nodes: readonly Node[]; readonly isElse: boolean } {
  const nodes: Node[] = [];
  while (!code.atEnd) {
    const opcode = code.byte();
    if (opcode === 0x0b || opcode === 0x05) return { nodes, isElse: opcode === 0x05 };
    if (opcode === 0x20) nodes.push({ kind: "get", local: code.unsigned() });
    else if (opcode === 0x21 || opcode === 0x22) nodes.push({ kind: "set", local: code.unsigned() });
    else if (opcode === 0x0c || opcode === 0x0d) {
      nodes.push({ kind: "branch", labels: [code.unsigned()], falls: opcode === 0x0d });
    } else if (opcode === 0x0e) {
      const labels = code.list((from) => from.unsigned());
      nodes.push({ kind: "branch", labels: [...labels, code.unsigned()], falls: false });
    } else if (opcode === 0x00 || opcode === 0x0f) nodes.push({ kind: "branch", labels: [], falls: false });
    else if (opcode >= 0x02 && opcode <= 0x04) {
      code.skip(1);
      const { nodes: body, isElse } = parse(code);
      const kind = opcode === 0x02 ? "block" : opcode === 0x03 ? "loop" : "if";
      nodes.push({ kind, body, otherwise: isElse ? parse(code).nodes : [] });
    } else skip(code, opcode);
  }
  return { nodes, isElse: false };
}

const union = <T>(...sets: readonly ReadonlySet<T>[]): Set<T> => new Set(sets.flatMap((set) => [...set]));

/** The locals that are live before nodes. `labels`: those that are live where branches go, the innermost last. */
function liveBefore(
  nodes: readonly Node[],
  end: ReadonlySet<number>,
  labels: readonly ReadonlySet<number>[],
  atLoops: Map<Node, ReadonlySet<number>>,
): ReadonlySet<number> {
  let live = new Set(end);
  for (const node of nodes.toReversed()) {
    if (node.kind === "get") live.add(node.local);
    else if (node.kind === "set") live.delete(node.local);
    else if (node.kind === "branch") {
      const there = node.labels.map((depth) => labels[labels.length - 1 - depth] ?? new Set<number>());
      live = union(...there, node.falls ? live : new Set());
    } else if (node.kind === "loop") {
      for (let size = -1; size !== atLoops.get(node)?.size; ) {
        const head: ReadonlySet<number> = atLoops.get(node) ?? new Set();
        ({ size } = head);
        atLoops.set(node, union(head, liveBefore(node.body, live, [...labels, head], atLoops)));
      }
      live = union(atLoops.get(node)!);
    } else {
      const after = live;
      const ways = node.kind === "if" ? [node.body, node.otherwise] : [node.body];
      live = union(...ways.map((way) => liveBefore(way, after, [...labels, after], atLoops)));
    }
  }
  return live;
}

const assigned = (node: Node): readonly number[] => {
  if (node.kind === "set") return [node.local];
  if (node.kind === "get" || node.kind === "branch") return [];
  return [...node.body, ...node.otherwise].flatMap(assigned);
};

/** The vectors in locals that are live where each loop of a module begins, and those of them that it assigns. */
function vectorsAtLoops(bytes: Uint8Array): readonly { readonly live: number; readonly assigned: number }[] {
  return readModule(bytes).functions.flatMap(({ type, locals, code }) => {
    const types = [...type.params, ...locals];
    const atLoops = new Map<Node, ReadonlySet<number>>();
    liveBefore(parse(new ByteReader(code)).nodes, new Set(), [], atLoops);
    return [...atLoops].map(([loop, live]) => {
      const written = new Set(assigned(loop));
      const vectors = [...live].filter((local) => types[local] === "v128");
      return { live: vectors.length, assigned: vectors.filter((local) => written.has(local)).length };
    });
  });
}

/** For each loop of a module, the number of vectors in locals that may be read after it has begun. */
export const vectorsInLoops = (bytes: Uint8Array): readonly number[] => vectorsAtLoops(bytes).map(({ live }) => live);

/**
 * For each loop of a module, the number of vectors in locals that are brought from round to round: those that a loop
 * assigns and that may be read before it assigns them again.
 */
export const vectorsAroundLoops = (bytes: Uint8Array): readonly number[] =>
  vectorsAtLoops(bytes).map((loop) => loop.assigned);
