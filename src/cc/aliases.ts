import type { Node } from "./graph.ts";
import { isEffect } from "./passes.ts";

export const reads = (node: Node): boolean => node.op.includes(".load") || node.op === "global.get";
export const writes = (node: Node): boolean => isEffect(node);

/** The place of an access: a base, and a distance from it. */
export function placeOf(node: Node): { readonly base: Node; readonly offset: number } {
  const [address] = node.args;
  const [offset] = node.immediates;
  const [base, distance] = address!.args;
  if (address!.op === "i32.add" && distance!.op === "const") {
    return { base: base!, offset: offset! + (distance!.constant as number) };
  }
  return { base: address!, offset: offset! };
}

/** The bytes of a plain load or store; null for what else reads or writes memory. */
function bytesOf({ op }: Node): number | null {
  const [, type, bits] = /^(\w+)\.(?:load|store)(\d*)(?:_|$)/.exec(op) ?? [];
  if (type === undefined) return null;
  if (bits !== "") return Number(bits) / 8;
  return type === "v128" ? 16 : Number(type.slice(1)) / 8;
}

/** Whether two accesses may be to the same bytes: not if they lie apart from the same place. */
export function mayAlias(a: Node, b: Node): boolean {
  const [bytesOfA, bytesOfB] = [bytesOf(a), bytesOf(b)];
  if (bytesOfA === null || bytesOfB === null) return true;
  const [first, second] = [placeOf(a), placeOf(b)];
  return (
    first.base !== second.base || (first.offset < second.offset + bytesOfB && second.offset < first.offset + bytesOfA)
  );
}
