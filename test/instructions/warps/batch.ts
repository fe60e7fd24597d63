import type { IrModule } from "../../../src/ir/index.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { SourceText } from "../../../src/source/index.ts";
import type { Home } from "../kernels.ts";
import { threadNames } from "./formula.ts";
import { type Area, Buffers, bytesIn, cellBytes, type Column, emptyByte, Layout } from "./layout.ts";
import { type Guarding, Section } from "./section.ts";
import type { WarpVector } from "./warp-vectors.ts";

/** A vector, and how some threads are kept from its instruction. */
export interface Case {
  readonly vector: WarpVector;
  readonly guarding: Guarding;
}

/** What an engine leaves of a batch. */
export interface Left {
  readonly reports: readonly { readonly code: string; readonly message: string; readonly line: number }[];
  readonly output: Uint8Array;
  readonly memory: Uint8Array;
}

/** Mismatches of one register, or of one space, that are told. */
const mostTold = 4;

/** One kernel that executes several cases one after the other. */
export class Batch {
  readonly block: number;
  readonly cluster: number;
  readonly module: IrModule;
  readonly input: Uint8Array;
  readonly outputBytes: number;
  readonly memory: Uint8Array;
  readonly parameter: Uint8Array;
  readonly #cases: { readonly case: Case; readonly layout: Layout; readonly line: number }[] = [];

  /** Throws where the module does not compile, with the vector's line in front. */
  constructor(cases: readonly Case[], home: Home) {
    const { block, blockSize, cluster } = cases[0]!.vector;
    const buffers = new Buffers({ block, blockSize });
    this.block = blockSize;
    this.cluster = cluster;
    const pointer = home.addressSize ?? 64;
    const sections = cases.map((one) => {
      const layout = new Layout(one.vector, buffers, pointer);
      return {
        case: one,
        layout,
        text: within(one.vector, () => new Section(one.vector, one.guarding, layout).text()),
      };
    });
    const lines = moduleLines(home, buffers, sections, pointer);
    for (const { case: one, layout, text } of sections)
      this.#cases.push({ case: one, layout, line: lines.findIndex((line) => line.includes(text)) + 1 });
    this.input = inputBytes(buffers);
    this.outputBytes = Math.max(buffers.columns, 1) * cellBytes * block;
    this.memory = new Uint8Array(buffers.memory.length === 0 ? [0] : buffers.memory);
    this.parameter = new Uint8Array(parameterBytes(buffers));
    this.parameter.set(buffers.parameter);
    const source = new SourceText("vectors.ptx", lines.join("\n"));
    const { module, diagnostics } = compile([source], {});
    if (module === null) {
      const [first] = diagnostics.filter((d) => d.severity === "error");
      throw new Error(this.#at(source.position(first!.span.start).line, first!.message));
    }
    this.module = module;
  }

  /** What is not as the vectors say, in one line each. */
  problems({ reports, output, memory }: Left): string[] {
    const expected = this.#expectedFault();
    if (expected !== null) {
      const found = reports[0]?.code ?? "none";
      return found === expected ? [] : [this.about(`the fault is ${found}, expected ${expected}`)];
    }
    if (reports.length > 0) return reports.map(({ line, message }) => this.#at(line, message));
    const view = new DataView(output.buffer, output.byteOffset, output.byteLength);
    return this.#cases.flatMap(({ case: { vector }, layout, line }) => [
      ...layout.columns.flatMap((column) => columnProblems(column, view, vector.block)).map((p) => this.#at(line, p)),
      ...layout.areas.flatMap((area) => areaProblems(area, vector, memory)).map((p) => this.#at(line, p)),
    ]);
  }

  /** A line about the first of its vectors. */
  about(problem: string): string {
    return this.#at(this.#cases[0]!.line, problem);
  }

  #expectedFault(): string | null {
    const { outcome } = this.#cases[0]!.case.vector.statement;
    return outcome.kind === "fault" ? outcome.code : null;
  }

  #at(line: number, problem: string): string {
    const found = this.#cases.find((c) => c.line === line);
    if (!found) return `line ${line} of the module: ${problem}`;
    const { vector, guarding } = found.case;
    const how = vector.statement.parts === null ? "" : ` (behind a ${guarding})`;
    return `${vector.file}:${vector.line}: ${vector.text}${how}: ${problem}`;
  }
}

/** What `f` throws is about the vector. */
function within<T>(vector: WarpVector, f: () => T): T {
  try {
    return f();
  } catch (error) {
    throw new Error(`${vector.file}:${vector.line}: ${vector.text}: ${(error as Error).message}`);
  }
}

const parameterBytes = ({ parameter }: Buffers): number => Math.max(32, Math.ceil(parameter.length / 32) * 32);

/** The module: one line for each section. */
function moduleLines(
  { version, target, addressSize }: Home,
  buffers: Buffers,
  sections: readonly { readonly layout: Layout; readonly text: string }[],
  pointer: 32 | 64,
): string[] {
  const names = ["in", "out", "mem"];
  const parameters = names.map((name) => `.param .u${pointer} ${name}`).join(", ");
  const start = [
    `.reg .u${pointer} ${names.map((name) => `%${name}`).join(", ")}; .reg .u32 %t, %local, %rank; mov.u32 %local, %tid.x;`,
    buffers.block === buffers.blockSize
      ? "mov.u32 %rank, 0; mov.u32 %t, %local;"
      : `mov.u32 %rank, %cluster_ctarank; mad.lo.u32 %t, %rank, ${buffers.blockSize}, %local;`,
    ...names.map((name) => `ld.param.u${pointer} %${name}, [${name}];`),
  ].join(" ");
  const functions: string[] = [];
  const body = sections.map(({ layout, text }) => {
    const { argument } = layout;
    if (argument === null) return text;
    const name = buffers.name("inside");
    functions.push(
      `.func ${name}(${parameters}, .param .align 32 .b8 argument[${argument.bytes}]) { ${start}`,
      text,
      "ret; }",
    );
    const passed = names.map((n) => `.param .u${pointer} p_${n}; st.param.u${pointer} [p_${n}], %${n};`).join(" ");
    const filled = layout.copyToParameter("p_argument", argument.at, argument.bytes).join(" ");
    const call = `call ${name}, (p_in, p_out, p_mem, p_argument);`;
    return `{ ${passed} .param .align 32 .b8 p_argument[${argument.bytes}]; ${filled} ${call} }`;
  });
  const row = `mad.${pointer === 64 ? "wide" : "lo"}.u32`;
  return [
    `.version ${version}`,
    `.target ${target}`,
    `.address_size ${addressSize ?? 64}`,
    ...(buffers.sharedBytes === 0 ? [] : [`.shared .align 128 .b8 shared[${buffers.sharedBytes}];`]),
    ...buffers.declarations,
    ...functions,
    `.visible .entry k(${parameters}, .param .align 32 .b8 data[${parameterBytes(buffers)}]) { ${start}`,
    `${row} %in, %t, ${cellBytes}, %in; ${row} %out, %t, ${cellBytes}, %out;`,
    ...body,
    "ret; }",
  ];
}

function inputBytes({ inputs, block }: Buffers): Uint8Array {
  const bytes = new Uint8Array(Math.max(inputs.length, 1) * cellBytes * block);
  const view = new DataView(bytes.buffer);
  inputs.forEach((values, column) => {
    values.forEach((value, thread) => {
      view.setBigUint64((column * block + thread) * cellBytes, BigInt.asUintN(64, value), true);
    });
  });
  return bytes;
}

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const empty = BigInt(`0x${emptyByte.toString(16).repeat(cellBytes)}`);

function columnProblems(column: Column & { readonly at: number }, view: DataView, block: number): string[] {
  const { at, size, values, inAnyOrder, what } = column;
  const found = values.map((_, thread) => {
    const low = view.getBigUint64(at + thread * cellBytes, true);
    return BigInt.asUintN(size, low | (view.getBigUint64(at + thread * cellBytes + 8, true) << 64n));
  });
  const wanted = values.map((value) => BigInt.asUintN(size, value ?? empty));
  const inOrder = (list: readonly bigint[]) =>
    inAnyOrder.map((thread) => list[thread]!).sort((a, b) => (a < b ? -1 : Number(a > b)));
  const [foundInOrder, wantedInOrder] = [inOrder(found), inOrder(wanted)];
  if (foundInOrder.some((value, i) => value !== wantedInOrder[i]))
    return [`${what} is ${foundInOrder.map(hex).join(" ")} in order, expected ${wantedInOrder.map(hex).join(" ")}`];
  const name = block === 32 ? "lane" : "thread";
  const wrong = values.flatMap((_, thread) =>
    found[thread] === wanted[thread] || inAnyOrder.includes(thread)
      ? []
      : [`${name} ${thread}: ${what} is ${hex(found[thread]!)}, expected ${hex(wanted[thread]!)}`],
  );
  return told(wrong);
}

const told = (wrong: readonly string[]): string[] =>
  wrong.length === 0
    ? []
    : [wrong.slice(0, mostTold).join("; ") + (wrong.length > mostTold ? `; and ${wrong.length - mostTold} more` : "")];

/** By vector and space, what must be in memory afterwards: computed once for all engines. */
const wantedContents = new WeakMap<WarpVector, Map<Area["space"], bigint[]>>();

/** The elements that must be in an area afterwards, thread after thread where each has its own. */
function wantedIn({ space, contents, isOwn, blocks }: Area, vector: WarpVector): bigint[] {
  let ofVector = wantedContents.get(vector);
  if (ofVector === undefined) wantedContents.set(vector, (ofVector = new Map()));
  const known = ofVector.get(space);
  if (known !== undefined) return known;
  const formula = vector.memoryAfter.get(space) ?? contents.formula;
  const wanted: bigint[] = [];
  for (let thread = 0; thread < (isOwn ? vector.block : blocks); thread++) {
    const own = isOwn ? threadNames(thread) : { rank: BigInt(thread) };
    for (let i = 0; i < contents.count; i++)
      wanted.push(BigInt.asUintN(contents.bits, formula({ names: { ...own, i: BigInt(i) }, position: i })));
  }
  ofVector.set(space, wanted);
  return wanted;
}

/** The element of 8 to 128 bits at a byte. */
function elementAt(view: DataView, at: number, bits: number): bigint {
  if (bits === 8) return BigInt(view.getUint8(at));
  if (bits === 16) return BigInt(view.getUint16(at, true));
  if (bits === 32) return BigInt(view.getUint32(at, true));
  const low = view.getBigUint64(at, true);
  return bits === 64 ? low : low | (elementAt(view, at + 8, bits - 64) << 64n);
}

function areaProblems(area: Area, vector: WarpVector, memory: Uint8Array): string[] {
  const { space, at, contents, isOwn, blocks } = area;
  const { bits, count } = contents;
  const view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  const wrong: string[] = [];
  wantedIn(area, vector).forEach((wanted, n) => {
    const [thread, i] = [Math.floor(n / count), n % count];
    const found = elementAt(view, at + thread * bytesIn(contents) + (i * bits) / 8, bits);
    if (found === wanted) return;
    const whose = isOwn ? ` of thread ${thread}` : blocks > 1 ? ` of block ${thread}` : "";
    wrong.push(`${space}[${i}]${whose} is ${hex(found)}, expected ${hex(wanted)}`);
  });
  return told(wrong);
}
