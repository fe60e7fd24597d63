import { findObstacle } from "../../program/obstacle.ts";
import { renderPlace } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";
import type { SourceFile } from "../data/source-file.ts";
import { isProvided } from "../launch/provided-names.ts";
import type { Parameter } from "../visa/arguments.ts";
import { compileVisa, type VisaOptions } from "../visa/compile.ts";
import type { VisaProgram } from "../visa/program.ts";
import { readZeInfo } from "../visa/zeinfo.ts";
import type { ListedKernel, Listing } from "./listing.ts";

/** What a vISA program adds to a listing. */
type VisaListing = Pick<Listing, "modules" | "kernels">;

/** The dummy that a compiler makes to carry functions. */
const symbolTable = "Intel_Symbol_Table_Void_Program";

/**
 * Lists the kernels of a vISA program.
 *
 * @throws UsageError if `target` names no platform, or a file is of another kind
 */
export function listVisaFiles(files: readonly SourceFile[], options: VisaOptions): VisaListing {
  const { program, diagnostics } = compileVisa(files, options);
  const info = options.zeinfo === undefined ? null : readZeInfo(options.zeinfo);
  if (program === null) {
    const error = diagnostics.find(({ severity }) => severity === "error");
    const obstacle = error ? `${error.message} (${renderPlace(error.source, error.span)})` : "it has no kernel";
    const names = info === null ? [] : [...info.keys()].filter((name) => name !== symbolTable);
    return { modules: [], kernels: names.map((name) => ({ ...kernelOf(name), signature: name, obstacle })) };
  }
  const kernels = program.ir.functions.filter(({ kind, name }) => kind === "kernel" && name !== symbolTable);
  return {
    modules: [],
    kernels: kernels.map((kernel): ListedKernel => {
      const { name } = kernel;
      const obstacle = findObstacle(program.ir, kernel, isProvided);
      const why =
        obstacle &&
        `${obstacle.message} (${renderPlace(obstacle.function.source, obstacle.function.instructions[obstacle.index]!.span)})`;
      return {
        ...{ ...kernelOf(name), sharedBytes: info?.get(name)?.slmBytes ?? null },
        signature: `${name}${parametersText(program, name)}`,
        obstacle: why,
      };
    }),
  };
}

const kernelOf = (name: string) => ({ name, module: "", sharedBytes: null, dynamicShared: false, registers: null });

/** The parameters; nothing if only the launch of a kernel written by hand would say what they are. */
function parametersText(program: VisaProgram, kernel: string): string {
  try {
    return `(${program.parameters(kernel).map(parameterText).join(", ")})`;
  } catch (error) {
    if (error instanceof UsageError) return "";
    throw error;
  }
}

function parameterText(parameter: Parameter): string {
  const type = (): string => {
    if (parameter.kind !== "value") return parameter.kind;
    const { type: element, elements, bytes } = parameter;
    return element === null ? `${bytes} bytes` : `${element}${elements > 1 ? `x${elements}` : ""}`;
  };
  return parameter.name === "" ? type() : `${type()} ${parameter.name}`;
}
