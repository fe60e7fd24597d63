import { type Location, DebuggerError } from "../location.ts";
import { addressOf } from "../expression/evaluate.ts";
import { parseExpression } from "../expression/parse.ts";
import { warpOf } from "../focus.ts";
import type { Session } from "../session.ts";
import type { Cta } from "../../machine/state/launch-state.ts";
import { decodeTensorMap } from "../../program/tensor/tensor-map.ts";
import { tensorMapProblem } from "../../program/tensor/map-problem.ts";
import { tensorMapBytes } from "../../ir/index.ts";
import { descriptorsAt, type Fields, matrixDescriptor, tensorMapFields } from "../view/descriptors.ts";
import { cellFormats, matricesAt, type MatrixView } from "../view/fragments.ts";
import { describeAddress, readMemory } from "../view/memory-view.ts";
import { inFlight, inFlightText, issuedBy, issuersText } from "../view/copies.ts";
import { mbarrierOf, mbarriersOf, mbarrierText } from "../view/mbarriers.ts";
import { tensorAllocations, tensorWords } from "../view/tensor-memory.ts";
import { formatValue, numberOf, sizeOf } from "../view/value.ts";
import type { ConsoleContext } from "./command.ts";
import { table } from "./render.ts";

const columnsAtOnce = 16;

/** The block in focus. */
function blockOf(session: Session): Cta {
  const block = warpOf(session.execution, session.focus)?.cta;
  if (block === undefined) throw new DebuggerError("the block in focus does not run");
  return block;
}

/** Draws a matrix, with the numbers of its rows and columns; a wide one in pieces. */
function matrixText({ rows, columns, cells, count }: MatrixView): string {
  const pieces: string[] = [];
  for (let one = 0; one < count; one++) {
    for (let from = 0; from < columns; from += columnsAtOnce) {
      const numbers = Array.from({ length: Math.min(columnsAtOnce, columns - from) }, (_, i) => from + i);
      const lines = Array.from({ length: rows }, (_, row) => [
        `${row}`,
        ...numbers.map((column) => cells[(one * rows + row) * columns + column]!),
      ]);
      pieces.push(rightAligned([["", ...numbers.map(String)], ...lines]));
    }
  }
  return pieces.join("\n\n");
}

function rightAligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows.map((row) => row.map((cell, i) => cell.padStart(widths[i]!)).join("  ")).join("\n");
}

const matrixNames = ["a", "b", "c", "d"];

/** Shows the matrices that an instruction has in registers: the next one, or that of a place in the same function. */
export function matrices({ session }: ConsoleContext, args: string): string {
  const { frame } = session.view;
  if (frame === null) throw new DebuggerError("nothing runs here");
  const { activation, site } = frame;
  const words = args.split(/\s+/).filter((word) => word !== "");
  const names = words.filter((word) => matrixNames.includes(word.toLowerCase())).map((word) => word.toUpperCase());
  const as = words.find((word) => word.startsWith("/"))?.slice(1) ?? null;
  if (as !== null && cellFormats[as] === undefined) {
    throw new DebuggerError(`info matrices: elements are ${Object.keys(cellFormats).join(", ")}, not ${as}`);
  }
  const [place] = words.filter((word) => !word.startsWith("/") && !matrixNames.includes(word.toLowerCase()));
  const index = place === undefined ? site.index : indexOf(session.locations(place), activation.code.ir, place);
  const found = matricesAt(activation, index, as);
  if (found.length === 0) {
    const what = place === undefined ? "the next instruction" : `the instruction at ${place}`;
    throw new DebuggerError(`${what} has no matrices in registers: info matrices LINE shows those of another one`);
  }
  const shown = found.filter(({ name }) => names.length === 0 || names.includes(name[0]!));
  if (shown.length === 0) throw new DebuggerError(`there is no matrix ${names.join(", ")} in registers here`);
  return shown
    .map((one) => {
      const size = `${one.count > 1 ? `${one.count} of ` : ""}${one.rows}x${one.columns}`;
      return `${one.name}: ${size}, ${one.format}, in ${one.registers.join(" ")}\n${matrixText(one)}`;
    })
    .join("\n\n");
}

function indexOf(locations: readonly Location[], ir: Location["ir"], place: string): number {
  const found = locations.find((location) => location.ir === ir);
  if (found === undefined)
    throw new DebuggerError(`${place} is not in the function in focus, whose registers these are`);
  return found.index;
}

const addressIn = (session: Session, text: string): bigint => addressOf(parseExpression(text), session.scope).address;

/** Shows the mbarriers of the block, or the one at an address. */
export function mbarriers({ session }: ConsoleContext, args: string): string {
  const { scope } = session;
  if (args !== "") {
    const address = addressIn(session, args);
    const bytes = readMemory(scope, address, 8);
    const word = bytes.length === 8 ? new DataView(bytes.buffer).getBigInt64(0, true) : 0n;
    const one = mbarrierOf(word, Number(address));
    if (one === null) throw new DebuggerError(`there is no mbarrier at ${describeAddress(scope, address)}`);
    return `${describeAddress(scope, address)}: ${mbarrierText(one)}`;
  }
  const rows = mbarriersOf(blockOf(session)).map((one) => [
    describeAddress(scope, BigInt(one.address)),
    mbarrierText(one),
  ]);
  return rows.length === 0 ? "no word in the block's shared memory is an mbarrier" : table(rows);
}

/** Shows the asynchronous operations of the block that have not taken effect. */
export function copies({ session }: ConsoleContext): string {
  const { scope } = session;
  const rows = inFlight(blockOf(session)).map((one) => {
    const { opcode, line } = issuedBy(one);
    return [`line ${line}`, opcode, issuersText(one), inFlightText(one, (address) => describeAddress(scope, address))];
  });
  if (rows.length > 0) return table(rows);
  return "nothing is in flight: with --seed, operations take effect as late as waits allow, and else where they are issued";
}

const fieldsText = (fields: Fields): string => table(fields.map(([name, value]) => [`  ${name}`, value]));

/** Shows the descriptors of the next instruction, or a value as a descriptor of a matrix. */
export function descriptors({ session }: ConsoleContext, args: string): string {
  if (args !== "") {
    const value = BigInt.asUintN(64, BigInt(numberOf(session.evaluate(args))));
    // Only those of tcgen05 have a version.
    const of = ((value >> 46n) & 7n) === 1n ? "tcgen05" : "wgmma";
    const fields = matrixDescriptor(value, of);
    const title = `0x${value.toString(16)} as a descriptor of ${of}`;
    return typeof fields === "string" ? `${title}: ${fields}` : `${title}\n${fieldsText(fields)}`;
  }
  const { frame } = session.view;
  if (frame === null) throw new DebuggerError("nothing runs here");
  const found = descriptorsAt(frame.activation, frame.site.index, session.focus.lane);
  if (found.length === 0)
    throw new DebuggerError("the next instruction takes no descriptor: info descriptors EXPRESSION");
  return found
    .map(({ name, value, fields }) => {
      const title = `${name}: 0x${value.toString(16)}`;
      return typeof fields === "string" ? `${title}: ${fields}` : `${title}\n${fieldsText(fields)}`;
    })
    .join("\n");
}

/** Shows the tensor map that a parameter of the kernel is, or that is at an address. */
export function tensorMap({ session }: ConsoleContext, args: string): string {
  if (args === "") throw new DebuggerError("info tensormap: which? A parameter of the kernel, or an address");
  const { scope } = session;
  const variable = scope.names.variable(args);
  const bytes =
    variable?.kind === "parameter" ? variable.read(scope) : readMemory(scope, addressIn(session, args), tensorMapBytes);
  const map = bytes.length < tensorMapBytes ? null : decodeTensorMap(bytes.slice(0, tensorMapBytes));
  if (map === null) throw new DebuggerError(`${args} is no tensor map`);
  const problem = tensorMapProblem(map);
  return fieldsText(tensorMapFields(map)) + (problem === null ? "" : `\nno copy can use it: ${problem}`);
}

const shownLanes = 32;
const shownColumns = 8;

/** Shows which columns of tensor memory are allocated, or words from an address on: `info tensor /f32 %r1`. */
export function tensorMemory({ session }: ConsoleContext, args: string): string {
  const block = blockOf(session);
  const allocations = tensorAllocations(block);
  if (allocations === null) return "the block has used no tensor memory";
  if (args === "") {
    const rows = allocations.map(({ column, columns, warp }) => [
      `columns ${column} to ${column + columns - 1}`,
      `allocated by warp ${warp}`,
    ]);
    return rows.length === 0 ? "no column is allocated" : table(rows);
  }
  const [, type = "b32", text = ""] = /^(?:\/(\w+)\s+)?(.*)$/.exec(args) ?? [];
  if (sizeOf(type) !== 4) throw new DebuggerError(`info tensor: ${type} is no type of 32 bits`);
  const address = Number(BigInt.asUintN(32, BigInt(numberOf(session.evaluate(text)))));
  const words = tensorWords(block, address, shownLanes, shownColumns);
  if (words.length === 0 || words[0]!.length === 0) {
    throw new DebuggerError(`there is no tensor memory at 0x${address.toString(16)}: 128 lanes, 512 columns`);
  }
  const column = address & 0xffff;
  const head = ["lane", ...Array.from(words[0]!, (_, i) => `${column + i}`)];
  const rows = words.map((row, i) => [
    `${(address >>> 16) + i}`,
    ...Array.from(row, (word) => formatValue({ bytes: new Uint8Array(Int32Array.of(word).buffer), type })),
  ]);
  return rightAligned([head, ...rows]);
}
