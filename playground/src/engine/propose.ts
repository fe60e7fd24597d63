import { Device, LoadError } from "lanewise";
import { type ArgumentJson, type BufferJson, readJobJson } from "../launch/job-text.ts";
import { launchOfVisa } from "./propose-visa.ts";
import type { EngineRequests, LaunchProposal, ProgramFile } from "./protocol.ts";

/** Elements of the buffers that a new launch has. */
const elements = 1024;

/** A kernel of a file, as far as a launch of it can be proposed. */
export interface FoundKernel {
  readonly name: string;
  /** As its source names it, with its parameters. */
  readonly shown: string;
  readonly parameters: readonly FoundParameter[];
}

interface FoundParameter {
  readonly name: string;
  readonly kind: string;
  readonly size: number;
  /** The type of C++, where the name of the kernel says it. */
  readonly element: string | null;
  readonly isPointer: boolean | null;
}

/** The kernels of a file; none where it has errors, which the editor shows. */
export function kernelsOf({ path, text }: ProgramFile): FoundKernel[] {
  try {
    const module = new Device().load({ path, text: text ?? "" });
    return module.kernels.map((name) => {
      const kernel = module.kernel(name);
      const types = kernel.parameterTypes;
      const parameters = kernel.ir.params.map(({ name: parameter, type }, i) => ({
        name: parameter,
        kind: type.kind,
        size: type.size,
        element: types?.[i]?.element ?? null,
        isPointer: types === null ? null : types[i]?.kind === "pointer",
      }));
      return { name, shown: kernel.signature, parameters };
    });
  } catch (error) {
    if (error instanceof LoadError) return [];
    throw error;
  }
}

/** A launch of one warp that fits a kernel, and the buffers that its arguments are of. */
export function launchOf({ name, parameters }: FoundKernel): LaunchProposal {
  const buffers: Record<string, BufferJson> = {};
  const args = parameters.map((parameter) => argumentOf(parameter, buffers));
  return { launch: { kernel: name, grid: [1], block: [32], args }, buffers };
}

/** An argument that fits a parameter: a new buffer where it is, or may be, an address. */
function argumentOf(
  { name, kind, size, element, isPointer }: FoundParameter,
  buffers: Record<string, BufferJson>,
): ArgumentJson {
  if (kind === "array") return { bytes: "00".repeat(size) };
  if (isPointer ?? (size === 8 && kind !== "f")) {
    const plain = name.replace(/.*_param_/, "p");
    buffers[plain] = { type: element ?? "u32", n: elements, init: { gen: "iota" } };
    return { buf: plain };
  }
  return { [element ?? `${kind === "f" ? "f" : "u"}${8 * size}`]: kind === "f" ? 1 : elements };
}

/** A launch of a kernel of a program; null if no file without errors has it. */
export async function propose({
  program,
  kernel,
}: EngineRequests["propose"]["args"]): Promise<EngineRequests["propose"]["result"]> {
  if (readJobJson(program.job)?.isa === "visa") return (await launchOfVisa(program, kernel)).proposal;
  for (const file of program.files) {
    const found = file.path.endsWith(".ptx") ? kernelsOf(file).find(({ name }) => name === kernel) : undefined;
    if (found !== undefined) return launchOf(found);
  }
  return null;
}
