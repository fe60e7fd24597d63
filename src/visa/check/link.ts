import { type Diagnostic, DiagnosticSink, nearest, type SourceText } from "../../source/index.ts";
import { controlOf } from "../isa/row.ts";
import { type BoundRoutine, isVectorCompiled } from "../symbols.ts";
import type { Instruction, Name } from "../tree.ts";
import type { CheckedVisa } from "./check.ts";
import type { VisaCheckCode } from "./codes.ts";
import { traceAddresses } from "./function-addresses.ts";

/** Options of `linkVisa`. */
export interface LinkVisaOptions {
  /** Names of data whose address `faddr` may take. A program's data is not in its text. */
  readonly symbols?: ReadonlySet<string>;
  /**
   * Whether a program is linked to be run: then a direct call with other sizes than its callee's is a warning, since a
   * run reports what is wrong with it, a register that is read although nobody has written it.
   */
  readonly toRun?: boolean;
}

/** The routines of a program that consists of several files. */
export interface LinkedVisa {
  /** The routines of all files, in order. If several files have a kernel of the same name, the first is kept. */
  readonly routines: readonly BoundRoutine[];
  /**
   * Diagnostics of the rules between routines: unknown functions, names used twice, sizes of calls, numbers of lanes.
   * Those within a routine are in its file's `CheckedVisa`.
   */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Puts the files of one program together: kernels and the functions that they call. Reports `visa-unknown-function`,
 * `visa-duplicate-routine`, `visa-call-size-mismatch` and `visa-lane-mismatch`. Never throws.
 */
export function linkVisa(files: readonly CheckedVisa[], options: LinkVisaOptions = {}): LinkedVisa {
  return new Linker(options.symbols ?? new Set(), options.toRun ? "warning" : "error").link(
    files.flatMap(({ routines }) => routines),
  );
}

class Linker {
  readonly #byName = new Map<string, BoundRoutine>();
  readonly #symbols: ReadonlySet<string>;
  /** The severity of a direct call's sizes that are wrong. */
  readonly #sizeSeverity: "error" | "warning";
  readonly #sinks = new Map<SourceText, DiagnosticSink<VisaCheckCode>>();

  constructor(symbols: ReadonlySet<string>, sizeSeverity: "error" | "warning") {
    this.#symbols = symbols;
    this.#sizeSeverity = sizeSeverity;
  }

  link(all: readonly BoundRoutine[]): LinkedVisa {
    const routines = all.filter((routine) => this.#define(routine));
    // If two routines have the same name, it is unknown which of them a call means.
    for (const routine of this.#sinks.size === 0 ? routines : []) {
      this.#names(routine);
      this.#indirectCalls(routine);
    }
    return { routines, diagnostics: [...this.#sinks.values()].flatMap(({ diagnostics }) => diagnostics) };
  }

  #sinkOf({ file: { source } }: BoundRoutine): DiagnosticSink<VisaCheckCode> {
    let sink = this.#sinks.get(source);
    if (sink === undefined) this.#sinks.set(source, (sink = new DiagnosticSink(source)));
    return sink;
  }

  /**
   * Registers a routine by its name; returns whether it is part of the program. Several kernels of one name come from
   * compiling twice (IGC tries again when it runs out of registers) and from the dummy kernel after which IGC puts
   * functions.
   */
  #define(routine: BoundRoutine): boolean {
    const first = this.#byName.get(routine.name);
    if (first === undefined) {
      this.#byName.set(routine.name, routine);
      return true;
    }
    if (routine.kind === "kernel" && first.kind === "kernel" && first.file !== routine.file) return false;
    const notes = [{ message: "the first one", source: first.file.source, span: first.routine.name }];
    const message = `two routines are named \`${routine.name}\``;
    this.#sinkOf(routine).error("visa-duplicate-routine", routine.routine.name, message, { notes });
    return true;
  }

  /** Checks the functions that `fcall` and `faddr` name. */
  #names(routine: BoundRoutine): void {
    const sink = this.#sinkOf(routine);
    for (const instruction of routine.instructions) {
      const { routine: named } = instruction.operands;
      if (named?.kind !== "name") continue;
      if (controlOf(instruction.row) === "address" && this.#symbols.has(named.name.text)) continue;
      const callee = this.#byName.get(named.name.text);
      if (callee?.kind !== "function") {
        const what = controlOf(instruction.row) === "address" ? "address" : "call";
        this.#unknown(sink, named.name, callee === undefined ? what : "kernel");
        continue;
      }
      checkLanes(sink, named.name, routine, callee);
      if (controlOf(instruction.row) === "file-call") reportMismatches(sink, instruction, callee, this.#sizeSeverity);
    }
  }

  #unknown(sink: DiagnosticSink<VisaCheckCode>, name: Name, what: "kernel" | "call" | "address"): void {
    if (what === "kernel") {
      const help = "only functions can be called";
      sink.error("visa-unknown-function", name, `\`${name.text}\` is a kernel`, { help });
      return;
    }
    const functions = [...this.#byName.values()].filter(({ kind }) => kind === "function");
    const meant = nearest(
      name.text,
      functions.map((routine) => routine.name),
    );
    const help = meant === null ? originOf(name.text, what) : `did you mean \`${meant}\`?`;
    sink.error("visa-unknown-function", name, `no file has a function \`${name.text}\``, { help });
  }

  /**
   * Checks the sizes of indirect calls: an error if every function whose address the operand may hold takes other
   * sizes, a warning if only some of them do.
   */
  #indirectCalls(routine: BoundRoutine): void {
    const sink = this.#sinkOf(routine);
    for (const { call, names, certain } of traceAddresses(routine)) {
      const targets = names.flatMap((name) => this.#byName.get(name) ?? []).filter(({ kind }) => kind === "function");
      const wrong = targets.filter((target) => mismatches(call, target).length > 0);
      const severity = certain && wrong.length === names.length ? "error" : "warning";
      for (const target of wrong) reportMismatches(sink, call, target, severity);
    }
  }
}

/** The names that IGC's builtin functions have: its own, those of SPIR-V, and mangled ones of OpenCL C. */
const builtinName =
  /^(?:__builtin_|__spirv_|__igcbuiltin_|__intel_|__ocl_|__oclc_|llvm\.|_Z\d+(?:__spirv_|__builtin_|__intel_|intel_))/;

/** Says where something that no file has would come from. */
function originOf(name: string, what: "call" | "address"): string {
  if (builtinName.test(name)) {
    return "it is a builtin that IGC found in none of its libraries: they have it for another device, extension or -cl-std";
  }
  // In OpenCL C only what is overloadable is mangled, as all builtins are.
  if (/^_Z\d/.test(name)) {
    return "if OpenCL C has it, IGC found it in none of its libraries: they have it for another device, extension or -cl-std; otherwise pass the file that has it as well";
  }
  if (what === "call") return "pass the file that has it as well";
  return "pass the file that has it as well or, if it is data, the binary with its symbols (or its place, --symbol)";
}

/**
 * Warns about a function that was written for another number of lanes than its caller. Threads always have the
 * kernel's. The vector compiler says how many channels an instruction has at most, not how many the thread has.
 */
function checkLanes(sink: DiagnosticSink<VisaCheckCode>, name: Name, caller: BoundRoutine, callee: BoundRoutine): void {
  if (caller.simd === callee.simd || caller.simd === 1 || callee.simd === 1) return;
  if (isVectorCompiled(caller) && isVectorCompiled(callee)) return;
  const message = `\`${callee.name}\` is for ${callee.simd} lanes, but \`${caller.name}\` has ${caller.simd}`;
  sink.warning("visa-lane-mismatch", name, message, {
    help: "give both the same SimdSize",
    notes: [{ message: "the function", source: callee.file.source, span: callee.routine.name }],
  });
}

/** The sizes of a call that differ from those that its callee declares. */
function mismatches({ operands }: Instruction, { argSize, retvalSize }: BoundRoutine) {
  const wanted = [
    ["argSize", "ArgSize", argSize],
    ["returnSize", "RetValSize", retvalSize],
  ] as const;
  return wanted.flatMap(([key, attribute, size]) => {
    const operand = operands[key];
    if (operand?.kind !== "number" || size === null || operand.value === size) return [];
    return [{ operand, attribute, size }];
  });
}

function reportMismatches(
  sink: DiagnosticSink<VisaCheckCode>,
  call: Instruction,
  callee: BoundRoutine,
  severity: "error" | "warning",
): void {
  for (const { operand, attribute, size } of mismatches(call, callee)) {
    const registers = `${operand.value} ${operand.value === 1 ? "register" : "registers"}`;
    const passed = attribute === "ArgSize" ? `passes ${registers}` : `takes ${registers} back`;
    const message = `the call ${passed}, but \`${callee.name}\` declares ${attribute} ${size}`;
    const notes = [{ message: "the function", source: callee.file.source, span: callee.routine.name }];
    sink[severity]("visa-call-size-mismatch", operand, message, { help: `write ${size}`, notes });
  }
}
