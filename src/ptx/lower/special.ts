import type { SourceText } from "../../source/index.ts";
import type { Variable } from "../../ir/index.ts";
import { type Expr, kit, type SpecialName, type Ty } from "../../semantics/index.ts";
import { reservedSharedBytes, specialRegisters } from "../check/special-registers.ts";
import type { SpecialSymbol } from "../tree/leaves.ts";
import type { TypeInfo } from "../types.ts";
import { tyOf } from "./values.ts";

/** The machine's 64-bit special values; all others have 32 bits. */
const wide: ReadonlySet<SpecialName> = new Set(["gridid", "clock64", "globaltimer", "current_graph_exec"]);

/** The name of the variable that stands for the shared memory reserved for the system. */
const reservedShared = "%reserved_smem";

/** That variable, if the source names a place in it. */
export function reservedVariables({ text }: SourceText): readonly Variable[] {
  const at = text.indexOf("%reserved_smem_offset_");
  if (at < 0) return [];
  return [
    {
      ...{ name: reservedShared, space: "shared", size: reservedSharedBytes, align: 128, reserved: true },
      ...{ init: [], relocations: [], dynamicShared: false, managed: false, span: { start: at, end: at } },
    },
  ];
}

/** The value of an element of a special register, as a value of `type`. */
export function specialValue(symbol: SpecialSymbol, component: string | null, type: TypeInfo): Expr {
  const index = component === null ? 0 : "xyzw".indexOf(component);
  return convert(meaningOf(symbol, index), type);
}

function meaningOf(symbol: SpecialSymbol, index: number): Expr {
  const meaning = specialRegisters.get(symbol.name)?.meaning;
  switch (meaning?.kind) {
    case "machine": {
      const name = meaning.names[index];
      return name === undefined ? kit.i32(0) : { kind: "special", ty: wide.has(name) ? "i64" : "i32", name };
    }
    case "fixed":
      return kit.i32(meaning.values[index] ?? 0);
    case "lanemask":
      return laneMask(meaning.relation);
    case "reserved":
      return { kind: "symbol", ty: "i32", symbol: reservedShared, offset: meaning.offset, generic: false };
    default:
      // Counters that the machine does not have read as zero.
      return kit.i32(0);
  }
}

function laneMask(relation: "eq" | "le" | "lt" | "ge" | "gt"): Expr {
  const own = kit.shl(kit.i32(1), { kind: "special", ty: "i32", name: "laneid" });
  const below = kit.sub(own, kit.i32(1));
  switch (relation) {
    case "eq":
      return own;
    case "lt":
      return below;
    case "le":
      return kit.or(below, own);
    case "ge":
      return kit.not(below);
    case "gt":
      return kit.not(kit.or(below, own));
  }
}

function convert(value: Expr, type: TypeInfo): Expr {
  const ty: Ty = tyOf(type);
  if (ty === "pred") return kit.ne(value, kit.int(value, 0));
  if (ty === "i64" || ty === "f64") {
    const bits = value.ty === "i32" ? kit.widen(value, false) : value;
    return kit.bitcast(bits, ty);
  }
  const low = value.ty === "i64" ? kit.wrap(value) : value;
  return ty === "f32" ? kit.bitcast(low, "f32") : kit.narrow(low, Math.min(32, type.bits), type.kind === "s");
}
