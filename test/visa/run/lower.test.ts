import { describe, expect, test } from "vitest";
import { argAt, fileLayout, retvalAt, variablesAt } from "../../../src/ir/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa, lowerVisa, parseVisa, payloadPlaces, type Platform } from "../../../src/visa/index.ts";

const routinesOf = (text: string, platform: Platform | null = null) =>
  bindVisa(parseVisa(new SourceText("k.visaasm", text)).tree, { platform });

const kernel = (body: string): string => `.version 3.6
.kernel "k"
.decl X v_type=G type=ud num_elts=16 align=GRF
.decl X16 v_type=G type=uw num_elts=4 align=word alias=<X, 8>
.decl X8 v_type=G type=ub num_elts=2 align=byte alias=<X16, 2>
.decl ARG v_type=G type=ud num_elts=8 align=GRF alias=<%arg, 32>
.decl A v_type=A num_elts=4
.decl P v_type=P num_elts=16
.decl T v_type=T num_elts=2
.decl ADDRESS v_type=G type=uq num_elts=1 align=GRF
.input X offset=64 size=64
.input ADDRESS offset=32 size=8
.input T offset=40 size=4
.kernel_attr SimdSize=16
.function "k"
k:
${body}
    ret (M1, 1)
`;

const [first] = routinesOf(kernel(""));
const routine = first!;
const [lowered] = lowerVisa([routine]).functions;
const file = lowered!.file!;
const placeOf = (name: string) => file.variables.find((v) => v.name === name);

describe("the byte file", () => {
  test("has predefined variables where every file has them", () => {
    expect(placeOf("%null")?.at).toBe(fileLayout.null.at);
    expect(placeOf("%sr0")).toMatchObject({ at: fileLayout.sr0.at, bytes: 16 });
    expect(placeOf("%bss")).toMatchObject({ at: fileLayout.surfaces.at + 16, bytes: 4 });
    expect(placeOf("%arg")).toMatchObject({ at: argAt, bytes: 32 * 32 });
    expect(placeOf("%retval")).toMatchObject({ at: retvalAt(32), bytes: 12 * 32 });
  });

  test("has the others after them, in registers of their own with gaps between", () => {
    const own = file.variables.filter(({ at }) => at >= variablesAt(32));
    expect(own.map(({ name, bytes }) => [name, bytes])).toEqual([
      ["X", 64],
      ["A", 16],
      ["T", 8],
      ["ADDRESS", 8],
    ]);
    own.forEach(({ at, bytes }, i) => {
      expect(at % 64).toBe(0);
      expect(own[i + 1]?.at ?? file.bytes).toBeGreaterThan(at + bytes);
    });
  });

  test("has no entries for aliases, nor for predicates, which are registers", () => {
    for (const name of ["X16", "X8", "ARG", "P"]) expect(placeOf(name)).toBeUndefined();
    expect(lowered!.registers).toEqual([{ name: "P", class: "pred", bits: 1 }]);
  });

  test("has an alias of an alias inside the root", () => {
    const [instruction] = lowerVisa(routinesOf(kernel("mov (M1, 1) X8(0,1)<1> 1:ub"))).functions[0]!.instructions;
    expect(instruction!.dst).toMatchObject([{ kind: "region", bits: 8, region: { at: placeOf("X")!.at + 8 + 2 + 1 } }]);
  });

  test("takes r0 and the inputs from the payload, each only as far as it has room", () => {
    expect(payloadPlaces(routine)).toEqual([
      { offset: 0, size: 32, at: fileLayout.r0.at },
      { offset: 64, size: 64, at: placeOf("X")!.at },
      { offset: 32, size: 8, at: placeOf("ADDRESS")!.at },
      { offset: 40, size: 4, at: placeOf("T")!.at },
    ]);
  });
});

// Numbers of units as IGC's `SFID` has them; 7, 8 and 13 to 15 are others from DG2 on.
test.each([
  ["raw_send (M1, 16) 0x2 2 1 0x4:ud X.0 X.0", "skl", " (unit 2, the sampler)"],
  ["raw_sends.8.1.2.1 (M1, 16) 0x8:ud 0x2100100:ud X.0 X.0 X.0", "pvc", " (unit 8, ray tracing)"],
  ["raw_sends.8.1.2.1 (M1, 16) 0x8:ud 0x2100100:ud X.0 X.0 X.0", "skl", " (unit 8, motion estimation)"],
  ["raw_sendsc.1.2.1 (M1, 16) 0xf:ud 0x2100100:ud X.0 X.0 X.0", "dg2", " (unit 15, global memory)"],
  ["raw_sendsc.1.2.1 (M1, 16) X(0,0)<0;1,0> 0x2100100:ud X.0 X.0 X.0", "dg2", ""],
] as const)("%s on %s is refused%s", (line, platform, unit) => {
  const { instructions } = lowerVisa(routinesOf(kernel(line), platform)).functions[0]!;
  const reason = `messages to fixed-function units are not modelled${unit}`;
  expect(instructions[0]).toMatchObject({ op: { kind: "unsupported", reason } });
});

describe("instructions", () => {
  const lower = (body: string) => lowerVisa(routinesOf(kernel(body))).functions[0]!;

  test("keep the source's file and line", () => {
    const { instructions, files } = lower(`FILE "a.cl"
LOC 7
    mov (M1, 16) X(0,0)<1> 1:ud
LOC 8
    mov (M1, 16) X(0,0)<1> 2:ud
FILE "b.cl"
    mov (M1, 16) X(0,0)<1> 3:ud`);
    expect([...files]).toEqual([
      [1, "a.cl"],
      [2, "b.cl"],
    ]);
    expect(instructions.map(({ location }) => location)).toEqual([
      { file: 1, line: 7, column: 0 },
      { file: 1, line: 8, column: 0 },
      null,
      null,
    ]);
  });

  test("have the channels and the guard of the text", () => {
    const { instructions } = lower("    (!P.any) mov (M3_NM, 8) X(0,0)<1> 1:ud");
    expect(instructions[0]).toMatchObject({
      guard: { register: 0, negate: true, collapse: "any" },
      lanes: { first: 8, count: 8, noMask: true, uniform: false },
    });
  });

  test("branch to the instruction after a label, whatever the earlier instructions were lowered to", () => {
    const { instructions } = lower(`LOC 1
back:
    mov (M1, 16) X(0,0)<1> 1:ud
LOC 2
    (P) goto (M1, 16) end
    goto (M1, 1) back
end:`);
    const branches = instructions.filter(({ op }) => op.kind === "branch");
    expect(branches.map(({ op, lanes }) => [op.kind === "branch" && op.target, lanes?.uniform])).toEqual([
      [3, false],
      [0, true],
    ]);
  });

  test("that name something unknown are refused if they can be reached", () => {
    const { instructions } = lower("    fcall (M1, 16) gone 0 0\n    faddr gone X(0,0)<1>");
    expect(instructions.slice(0, 2).map(({ op }) => op)).toEqual([
      { kind: "unsupported", what: "gone", reason: "nothing in the program has this name" },
      { kind: "unsupported", what: "gone", reason: "nothing in the program has this name" },
    ]);
  });
});

test("a routine with too many variables is refused", () => {
  const declarations = Array.from({ length: 1000 }, (_, i) => `.decl B${i} v_type=G type=uq num_elts=1024 align=GRF`);
  const [function_] = lowerVisa(
    routinesOf(kernel("").replace(".decl A ", `${declarations.join("\n")}\n.decl A `)),
  ).functions;
  expect(function_!.instructions).toMatchObject([{ op: { kind: "unsupported", what: "k" } }]);
  expect(function_!.file!.bytes).toBeLessThan(2 ** 23);
});

test("data of a compiled program is in the device's memory, section by section", () => {
  const symbols = {
    sections: new Map([[".data.const", Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)]]),
    symbols: new Map([["table", { section: ".data.const", offset: 4 }]]),
  };
  const module = lowerVisa(routinesOf(kernel("    faddr table ADDRESS(0,0)<1>")), { symbols });
  expect(module.variables.map(({ name, space, size }) => [name, space, size])).toEqual([
    ["%slm", "shared", 0],
    [".data.const", "global", 8],
  ]);
  expect(module.functions[0]!.instructions[0]!.op).toEqual({
    kind: "pure",
    values: [{ kind: "symbol", ty: "i64", symbol: ".data.const", offset: 4, generic: true }],
  });
});
