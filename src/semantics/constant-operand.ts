import type { Wasm } from "../wasm/index.ts";
import { evaluated } from "./expansion.ts";
import { type Form, halfForm, quadForm, scalarForm } from "./form.ts";
import type { Emission } from "./prim.ts";
import type { Ty } from "./types.ts";
import { uniform32 } from "./uniform.ts";

/**
 * Returns the emission of a primitive whose last operand (`i32`) selects an operation on the others. `expand` writes
 * the operation for a constant selector, or returns null if it cannot; in all other cases `eval` is called, by the
 * primitive's name.
 */
export function byLastOperand(
  name: string,
  params: readonly Ty[],
  result: Ty,
  expand: (form: Form, constant: number, operands: readonly Wasm[]) => Wasm | null,
): Emission {
  const calls = evaluated(name, params, result);
  const inForm = (form: Form) => {
    const call = calls[form.name];
    return (...operands: Wasm[]): Wasm => {
      const last = operands.at(-1)!;
      const constant = form.count === 1 ? last : uniform32(last, form.count);
      const expansion =
        constant?.kind === "const" && constant.ty === "i32"
          ? expand(form, constant.value, operands.slice(0, -1))
          : null;
      return expansion ?? call!(...operands);
    };
  };
  const vector = calls.half === undefined ? quadForm : halfForm;
  return { scalar: inForm(scalarForm), [vector.name]: inForm(vector) };
}
