import { expect, test } from "vitest";
import { Analysed, oneRow } from "./analysed.ts";

// Results of operations of whole warps, in chunks of 32 lanes.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; mul.lo.u32 %r5, %r0, %r0; setp.lt.u32 %p0, %r0, 7;\n";

const kindOf = (line: string, register: string): string => {
  const code = new Analysed(`${begin}${line}\nret;`, { ...oneRow, quads: 8 });
  return code.analysis.register(code.number(register)).kind;
};

test.each([
  ["a vote", "vote.sync.any.pred %p1, %p0, -1;", "%p1", "uniform"],
  ["a ballot", "vote.sync.ballot.b32 %r1, %p0, -1;", "%r1", "uniform"],
  ["a reduction", "redux.sync.add.u32 %r1, %r5, -1;", "%r1", "uniform"],
  ["the lanes with the same value", "match.any.sync.b32 %r1, %r5, -1;", "%r1", "vector"],
  ["whether all have the same", "match.all.sync.b32 %r1|%p1, %r5, -1;", "%p1", "uniform"],
  ["one lane's value, for all", "shfl.sync.idx.b32 %r1, %r5, 0, 31, -1;", "%r1", "uniform"],
  ["that of a lane on which all agree", "shfl.sync.idx.b32 %r1, %r5, %s0, 31, -1;", "%r1", "uniform"],
  ["that of a lane of each half", "shfl.sync.idx.b32 %r1, %r5, 0, 0x100f, -1;", "%r1", "vector"],
  ["that of each lane's neighbour", "shfl.sync.down.b32 %r1, %r5, 1, 31, -1;", "%r1", "vector"],
])("%s", (_, line, register, kind) => {
  expect(kindOf(line, register)).toBe(kind);
});
