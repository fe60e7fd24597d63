import { type IrFunction, type IrModule, windows } from "../ir/index.ts";
import { functionStride } from "../machine/memory/address-space.ts";
import { type Extent, Layout } from "../machine/memory/extent.ts";
import type { FrameLayout, ProgramFunction } from "../machine/state/code.ts";

/** The functions of a program, in the form that one engine uses. */
export interface FunctionTable<F extends ProgramFunction = ProgramFunction> {
  /** Ordered by address, which is the order of the module. */
  readonly functions: readonly F[];
  /** The function of that name, through aliases. */
  readonly functionNamed: (name: string) => F | null;
}

/** Builds the function table of a module. Functions lie at consecutive addresses of their window. */
export function tableOf<F extends ProgramFunction>(
  module: IrModule,
  make: (ir: IrFunction, index: number) => F,
): FunctionTable<F> {
  const functions = module.functions.map(make);
  const byName = new Map(functions.map((f) => [f.ir.name, f]));
  for (const [alias, index] of module.aliases) byName.set(alias, functions[index]!);
  return { functions, functionNamed: (name) => byName.get(name) ?? null };
}

/**
 * The properties of a function that are known before any engine looks at its instructions: its address, its frame and
 * its parameters.
 */
export function layFunction(ir: IrFunction, index: number): ProgramFunction {
  const frame = layFrame(ir);
  return {
    ir,
    address: windows.function.start + index * functionStride,
    frame,
    stackCost: stackCostOf(ir, frame),
    paramExtents: layParams(ir),
  };
}

function stackCostOf({ registers }: IrFunction, frame: FrameLayout): number {
  const bytes = registers.reduce((sum, r) => sum + (r.class === "b64" ? 8 : r.class === "b32" ? 4 : 0), 0);
  return frame.size + bytes + 16;
}

function layParams({ params }: IrFunction): readonly Extent[] {
  const { start } = windows["kernel-param"];
  return params.flatMap(({ name, storage, type }) => {
    if (storage.kind !== "kernel") return [];
    return { name: `\`${name}\``, start: start + storage.offset, end: start + storage.offset + type.size };
  });
}

/** Places the variables of a frame, with gaps between them so that an access past the end of one is noticed. */
function layFrame(ir: IrFunction): FrameLayout {
  const layout = new Layout(0);
  const offsets: number[] = [];
  const unsized = ir.frame.findIndex((v) => v.unsized);
  ir.frame.forEach((v, i) => {
    offsets[i] = i === unsized ? 0 : layout.place(`\`${v.name}\``, v.size, Math.max(v.align, 1));
  });
  const align = ir.frame.reduce((max, v) => Math.max(max, v.align), 16);
  const size = Math.ceil(layout.end / align) * align;
  if (unsized >= 0) offsets[unsized] = size;
  return { offsets, extents: layout.extents, size: ir.frame.length === 0 ? 0 : size, align, unsized };
}
