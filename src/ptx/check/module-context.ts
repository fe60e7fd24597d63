import type { DiagnosticSink, Span } from "../../source/index.ts";
import type { Gate } from "../isa/define.ts";
import type { CheckCode } from "./codes.ts";
import type { ReportConstant } from "./constant.ts";
import { CandidateGates, gateProblem } from "./gates.ts";
import type { Target } from "./target.ts";

/** What all checks of a module's declarations depend on. */
export class ModuleContext {
  readonly sink: DiagnosticSink<CheckCode>;
  /** The PTX ISA version as one number: 6.4 is 604. */
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

  /** Reports an error if the module's version or target lacks something. `what`: its name in the message. */
  require(gate: Gate, what: string, span: Span): void {
    const problem = gateProblem(gate, what, this.version, this.target);
    if (problem) this.sink.error(problem.code, span, problem.message, { help: problem.help });
  }

  /** For `evaluateConstant`. */
  readonly reportConstant: ReportConstant = (span, message, help) => {
    this.sink.error("constant-expression", span, message, { help });
  };
}
