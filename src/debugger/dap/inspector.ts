import { displayName } from "../../names/index.ts";
import type { SourceText } from "../../source/index.ts";
import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import { assemblyPlace, type LaneFrame, type SourcePlace } from "../view/lane-place.ts";
import { readMemory } from "../view/memory-view.ts";
import { lanesTable, lanesText } from "../view/tables.ts";
import { codeAddress, locationAt } from "./code-addresses.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import type { Arguments, DapSource } from "./protocol.ts";
import { shownOrigin, type SourceOptions } from "./shown-source.ts";
import type { Threads } from "./threads.ts";
import { expressionRow, scopesOf, type VariableRow } from "./variables.ts";

/** A frame that an editor knows. */
interface FrameRef {
  readonly thread: number;
  readonly lane: number;
  readonly frame: number;
}

const fileName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

const maxBytes = 1 << 20;
const maxInstructions = 4096;

/** Clamps the number that an editor asks for. */
const countOf = (asked: number | null, max: number): number => Math.max(0, Math.min(Math.trunc(asked ?? 0), max));

/** Returns the address in a request. */
function referenceOf(args: Arguments): bigint {
  const reference = args.string("memoryReference") ?? "";
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(reference)) throw new DebuggerError(`"${reference}" is not an address`);
  return BigInt(reference);
}

/**
 * Answers the requests of editors about a stopped program. Frames and lists of variables are referred to by numbers.
 */
export class Inspector {
  readonly #session: Session;
  readonly #threads: Threads;
  readonly #options: SourceOptions;
  readonly #frames: FrameRef[] = [];
  readonly #lists: { readonly rows: () => readonly VariableRow[]; readonly frame: FrameRef }[] = [];
  readonly #sources: SourceText[] = [];

  constructor(session: Session, threads: Threads, options: SourceOptions) {
    this.#session = session;
    this.#threads = threads;
    this.#options = options;
  }

  /** Forgets frames and variables, because time has moved. */
  forget(): void {
    this.#frames.length = 0;
    this.#lists.length = 0;
  }

  // ---- Frames and sources -------------------------------------------------------------------------------------------

  stackTrace(args: Arguments): object {
    const { frames } = this.#session.view;
    const start = Math.max(0, args.number("startFrame") ?? 0);
    const levels = args.number("levels") || frames.length;
    const stackFrames = frames.slice(start, start + levels).map((frame, i) => this.#frame(frame, start + i));
    return { stackFrames, totalFrames: frames.length };
  }

  #frame(shown: LaneFrame, frame: number): object {
    const { site } = shown;
    const { code, index } = site;
    const assembly = assemblyPlace(site);
    const origin = shownOrigin(shown, this.#options);
    const end = code.ir.source.position(site.instruction.span.end);
    const place = origin ?? assembly;
    const id = this.#frames.push({ thread: this.#threads.focused, lane: this.#session.focus.lane, frame });
    return {
      id,
      name: displayName(shown.function ?? "an inlined function"),
      line: place.line,
      column: place.column,
      ...(origin === null ? { endLine: end.line, endColumn: end.column } : {}),
      source: origin === null ? this.#sourceOf(code.ir.source) : this.#originSource(origin),
      instructionPointerReference: codeAddress(this.#session.functions, { ir: code.ir, index }),
    };
  }

  /** Moves the focus to a frame, so that expressions refer to it; null keeps the focus. */
  selectFrame(id: number | null): void {
    if (id === null) return;
    const ref = this.#frames[id - 1];
    if (ref === undefined) throw new DebuggerError(`there is no frame ${id}`);
    this.#select(ref);
  }

  #select({ thread, lane, frame }: FrameRef): void {
    this.#threads.select(thread);
    this.#session.focus = { ...this.#session.focus, lane, frame };
  }

  #sourceOf(source: SourceText): DapSource {
    const path = this.#options.pathOf(source.path);
    const name = fileName(source.path);
    if (path !== null) return { name, path };
    let at = this.#sources.indexOf(source);
    if (at < 0) at = this.#sources.push(source) - 1;
    return { name, sourceReference: at + 1 };
  }

  #originSource({ path }: SourcePlace): DapSource {
    return { name: fileName(path), path: this.#options.pathOf(path) ?? path };
  }

  loadedSources(): object {
    const sources = new Set(this.#session.functions.filter((f) => !f.external).map((f) => f.source));
    return { sources: [...sources].map((source) => this.#sourceOf(source)) };
  }

  source(args: Arguments): object {
    const reference = args.object("source").number("sourceReference") ?? args.number("sourceReference") ?? 0;
    const source = this.#sources[reference - 1];
    if (source === undefined) throw new DebuggerError("there is no such source");
    return { content: source.text };
  }

  // ---- Variables ----------------------------------------------------------------------------------------------------

  scopes(args: Arguments): object {
    const id = args.number("frameId") ?? 0;
    this.selectFrame(id);
    const frame = this.#frames[id - 1]!;
    const scopes = scopesOf(this.#session).map(({ name, hint, expensive, rows }) => ({
      name,
      expensive,
      variablesReference: this.#lists.push({ rows, frame }),
      ...(hint === undefined ? {} : { presentationHint: hint }),
    }));
    return { scopes };
  }

  variables(args: Arguments): object {
    const { rows, frame } = this.#list(args);
    this.#select(frame);
    const all = rows();
    const start = args.number("start") ?? 0;
    const count = args.number("count") || all.length;
    return { variables: all.slice(start, start + count).map((row) => this.#variable(row, frame)) };
  }

  #list(args: Arguments) {
    const list = this.#lists[(args.number("variablesReference") ?? 0) - 1];
    if (list === undefined) throw new DebuggerError("these variables no longer exist");
    return list;
  }

  #variable({ children, ...row }: VariableRow, frame: FrameRef): object {
    return { ...row, variablesReference: children === undefined ? 0 : this.#lists.push({ rows: children, frame }) };
  }

  /** Returns the expression that stands for a variable in a list. */
  targetOf(args: Arguments): string {
    const { rows, frame } = this.#list(args);
    this.#select(frame);
    const row = rows().find(({ name }) => name === args.string("name"));
    if (row?.evaluateName === undefined) throw new DebuggerError("this cannot be given a value");
    return row.evaluateName;
  }

  evaluate(text: string): object {
    const { name: _, value, evaluateName: __, children, ...row } = expressionRow(this.#session, text);
    const frame = { thread: this.#threads.focused, lane: this.#session.focus.lane, frame: this.#session.focus.frame };
    const variablesReference = children === undefined ? 0 : this.#lists.push({ rows: children, frame });
    return { ...row, result: value, variablesReference };
  }

  /** Returns the new value of something that was assigned to. */
  assigned(text: string): object {
    const { value, type } = expressionRow(this.#session, text);
    return { value, ...(type === undefined ? {} : { type }), variablesReference: 0 };
  }

  /** Returns the lanes of the warp in focus, those in the same state at the same place in one row. */
  lanes(): object {
    const { warp } = this.#session.view;
    if (warp === null) return { lanes: [] };
    const lanes = lanesTable(warp, this.#session.moment).map(({ mask, state, why, site, activation }) => ({
      mask: mask >>> 0,
      text: lanesText(mask),
      state,
      waitsFor: why,
      function: site === null ? null : displayName(site.code.ir.name),
      depth: activation?.depth ?? null,
      ...(site === null ? {} : { line: assemblyPlace(site).line, source: this.#sourceOf(site.code.ir.source) }),
    }));
    return { lane: this.#session.focus.lane, lanes };
  }

  // ---- Memory and code ----------------------------------------------------------------------------------------------

  readMemory(args: Arguments): object {
    const address = this.#address(args);
    const count = countOf(args.number("count"), maxBytes);
    const bytes = readMemory(this.#session.scope, address, count);
    return {
      address: `0x${address.toString(16)}`,
      data: encodeBase64(bytes),
      ...(bytes.length < count ? { unreadableBytes: count - bytes.length } : {}),
    };
  }

  writeMemory(args: Arguments): object {
    const bytes = decodeBase64(args.string("data") ?? "");
    if (bytes === null) throw new DebuggerError("the data is not valid base64");
    if (!this.#session.writeMemory(this.#address(args), bytes)) throw new DebuggerError("not all of this is memory");
    return { bytesWritten: bytes.length };
  }

  #address(args: Arguments): bigint {
    const address = referenceOf(args) + BigInt(Math.trunc(args.number("offset") ?? 0));
    if (address !== BigInt.asUintN(64, address)) throw new DebuggerError("the address is out of range");
    return address;
  }

  disassemble(args: Arguments): object {
    const { functions } = this.#session;
    const reference = referenceOf(args);
    const from = Math.trunc((args.number("instructionOffset") ?? 0) + (args.number("offset") ?? 0));
    const count = countOf(args.number("instructionCount"), maxInstructions);
    const start = locationAt(functions, String(reference), 0);
    const instructions = Array.from({ length: count }, (_, i) => {
      const found = start && locationAt(functions, codeAddress(functions, start), from + i);
      const address = `0x${BigInt.asUintN(64, reference + BigInt(from + i)).toString(16)}`;
      if (!found) return { address, instruction: "(nothing)", presentationHint: "invalid" };
      const { ir, index } = found;
      const { span } = ir.instructions[index]!;
      const { line, column } = ir.source.position(span.start);
      const text = ir.source.slice(span).replace(/\s+/g, " ");
      return {
        address,
        instruction: text,
        line,
        column,
        location: this.#sourceOf(ir.source),
        symbol: `${displayName(ir.name)}+${index}`,
      };
    });
    return { instructions };
  }
}
