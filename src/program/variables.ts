import { type IrModule, type Variable, windows } from "../ir/index.ts";
import { type Extent, Layout } from "../machine/memory/extent.ts";
import type { DeviceMemory } from "../machine/memory/memory.ts";
import { Views } from "../machine/memory/views.ts";
import type { Bank } from "../machine/state/bank.ts";

/** The largest gap between two shared or constant variables, in bytes. */
const maxGap = 1024;

/** A module-level variable and its address. */
export interface PlacedVariable {
  readonly variable: Variable;
  /** Within its own state space. */
  readonly address: number;
}

/** The layout of a block's shared memory. */
export interface SharedLayout {
  readonly extents: readonly Extent[];
  /** The address at which dynamic shared memory begins. */
  readonly dynamicStart: number;
  readonly dynamicName: string;
  /** The size of the static variables, in bytes. */
  readonly staticBytes: number;
}

/** The variables of a module and where they lie. */
export interface Variables {
  readonly byName: ReadonlyMap<string, PlacedVariable>;
  readonly shared: SharedLayout;
  readonly constants: Bank;
}

/** Places the variables of a module. Throws a RangeError if they do not fit into their space or into the device. */
export function placeVariables(memory: DeviceMemory, module: IrModule): Variables {
  const byName = new Map<string, PlacedVariable>();
  const shared = layShared(module, byName);
  const constants = layConstants(module, byName);
  for (const variable of module.variables) {
    if (variable.space !== "global") continue;
    byName.set(variable.name, { variable, address: memory.alloc(variable.size, `\`${variable.name}\``) });
  }
  return { byName, shared, constants };
}

function layConstants(module: IrModule, byName: Map<string, PlacedVariable>): Bank {
  const { start } = windows.const;
  const layout = new Layout(start, maxGap);
  for (const variable of module.variables) {
    if (variable.space !== "const") continue;
    const address = layout.place(`\`${variable.name}\``, variable.size, variable.align);
    byName.set(variable.name, { variable, address });
  }
  checkWindow(layout, "const");
  return { views: new Views(layout.end - start), start, extents: layout.extents };
}

/** Throws a RangeError if the variables of a space need more addresses than it has. */
function checkWindow(layout: Layout, window: "const" | "shared"): void {
  if (layout.end > windows[window].end) throw new RangeError(`the ${window} variables do not fit into their space`);
}

function layShared(module: IrModule, byName: Map<string, PlacedVariable>): SharedLayout {
  const layout = new Layout(windows.shared.start, maxGap);
  const all = module.variables.filter((v) => v.space === "shared");
  for (const variable of all) {
    if (variable.dynamicShared) continue;
    const address = layout.place(`\`${variable.name}\``, variable.size, variable.align);
    byName.set(variable.name, { variable, address });
  }
  checkWindow(layout, "shared");
  const dynamic = all.filter((v) => v.dynamicShared);
  const align = dynamic.reduce((max, v) => Math.max(max, v.align), 128);
  const dynamicStart = Math.ceil(layout.end / align) * align;
  for (const variable of dynamic) byName.set(variable.name, { variable, address: dynamicStart });
  return {
    extents: layout.extents,
    dynamicStart,
    dynamicName: dynamic[0] === undefined ? "dynamic shared memory" : `\`${dynamic[0].name}\``,
    staticBytes: all.reduce((sum, v) => sum + (v.dynamicShared || v.reserved === true ? 0 : v.size), 0),
  };
}
