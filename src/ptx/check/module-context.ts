import type { DiagnosticSink, Span } from "../../source/index.ts";
import type { Gate } from "../isa/define.ts";
import type { CheckCode } from "./codes.ts";
import type { ReportConstant } from "./constant.ts";
import type { Target } from "./context.ts";
import { CandidateGates, gateProblem } from "./gates.ts";

/** What every check of a module's declarations needs. */
export class ModuleContext {
  readonly sink: DiagnosticSink<CheckCode>;
  readonly version: number;
  readonly target: Target;
  readonly addressSize: 32 | 64;
  readonly gates: CandidateGates;

  constructor(sink: DiagnosticSink<CheckCode>, version: number, target: Target, addressSize: 32 | 64) {
    this.sink = sink;
    this.version = version;
    this.target = target;
    this.addressSize = addressSize;
    this.gates = new CandidateGates(version, target);
  }

  /** Reports what the module's version or target does not have; `what` as a message names it. */
  require(gate: Gate, what: string, span: Span): void {
    const problem = gateProblem(gate, what, this.version, this.target);
    if (problem) this.sink.error(problem.code, span, problem.message, { help: problem.help });
  }

  /** For `evaluateConstant`. */
  readonly reportConstant: ReportConstant = (span, message, help) => {
    this.sink.error("constant-expression", span, message, { help });
  };
}
