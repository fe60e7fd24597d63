import type { Span } from "../../source/index.ts";
import type { Parameter } from "../tree/nodes.ts";
import type { Binder } from "./bind.ts";
import type { ModuleContext } from "./module-context.ts";
import { declaredType, isPowerOfTwo, opaqueTypes, type Shape, shapeOf } from "./shape.ts";

/** A formal parameter of a function or prototype as callers see it. */
export interface FormalShape extends Shape {
  readonly name: string;
  readonly span: Span;
  readonly space: "reg" | "param";
  /** `.param .b8 x[]`: accepts an array of any size, or no argument. */
  readonly unsized: boolean;
  readonly parameter: Parameter;
}

/** The return and input parameters of a function or prototype. */
export interface CallSignature {
  readonly returns: readonly FormalShape[];
  readonly params: readonly FormalShape[];
}

/** What a parameter list belongs to; the rules differ. */
type Owner = "entry" | "func" | "prototype";

/** Checks the parameters of a function, kernel or prototype (11.2.1, 11.2.2) and returns their shapes. */
export function signatureOf(
  node: { readonly returns: readonly Parameter[] | null; readonly params: readonly Parameter[] | null },
  owner: Owner,
  binder: Binder,
  context: ModuleContext,
): CallSignature {
  const { sink } = context;
  const formals = (list: readonly Parameter[] | null, returned: boolean): FormalShape[] => {
    const shapes: FormalShape[] = [];
    list?.forEach((parameter, i) => {
      const shape = formalShape(parameter, owner, binder, context);
      if (shape === null) return;
      shapes.push(shape);
      if (shape.unsized) checkUnsized(shape, owner, returned, i === list.length - 1, context);
    });
    return shapes;
  };
  const returns = formals(node.returns, true);
  const params = formals(node.params, false);
  const [, second] = returns;
  if (second && returns.some((r) => r.space === "param")) {
    sink.error("return-parameters", second.span, "a function can have only one return parameter", {
      help: "return an array of bytes that holds all values",
    });
  }
  if (owner === "entry") checkParameterSpace(params, context);
  // There is no ABI before PTX 2.0, and functions with several results do not use it.
  else if (context.version >= 200 && returns.length < 2) {
    for (const shape of [...returns, ...params]) checkPassable(shape, context);
  }
  return { returns, params };
}

function formalShape(parameter: Parameter, owner: Owner, binder: Binder, context: ModuleContext): FormalShape | null {
  const { name, space, align } = parameter;
  const { sink } = context;
  if (name.text === "_" && owner !== "prototype") {
    sink.error("parameter-name", name, "a parameter needs a name", { help: "`_` is only allowed in prototypes" });
  }
  for (const bound of parameter.dimensions) if (bound !== null) binder.expression(bound);
  const type = declaredType(parameter.type, context);
  if (type === null) return null;
  const shape = shapeOf(parameter, type, parameter.dimensions, parameter, null, context);
  if (owner === "entry" && space === "reg") {
    sink.error("parameter-space", parameter, "a kernel's parameter must be in the .param state space", {
      help: "write `.param`",
    });
  }
  if (owner !== "entry" && space === "param") {
    context.require({ since: "2.0", target: "sm_20" }, "a .param parameter of a function", parameter);
  }
  if (space === "reg") {
    if (shape.dimensions.length > 0) {
      sink.error("parameter-type", parameter, "an array cannot be in a register", { help: "write `.param`" });
    }
  } else {
    if (type.kind === "pred")
      sink.error("parameter-type", parameter.type, "a predicate cannot be in the .param state space");
    else if (type.name === "samplerref" && context.target.texturing !== "independent") {
      context.sink.error(
        "parameter-type",
        parameter.type,
        "a sampler of its own needs the independent texturing mode",
        {
          help: `write \`.target ${context.target.name}, texmode_independent\``,
        },
      );
    } else if (type.lanes > 1 || shape.vector > 1 || (opaqueTypes.has(type.name) && owner !== "entry")) {
      sink.error(
        "parameter-type",
        parameter.type,
        `a ${shape.vector > 1 ? "vector" : `.${type.name}`} cannot be a .param parameter`,
        {
          help: "use an array of bytes, as in `.param .align 8 .b8 a[8]`",
        },
      );
    }
  }
  if (align !== null && align.value > 128 && isPowerOfTwo(align.value)) {
    sink.error("alignment", align.span, "a parameter can be aligned to at most 128 bytes");
  }
  checkPointer(parameter, owner, context);
  const unsized = shape.dimensions[0] === null;
  return { ...shape, name: name.text, span: name, space, unsized, parameter };
}

/**
 * Checks that the ABI can pass a parameter: not integers of fewer than 32 bits, nor predicates (7.1). Others are
 * accepted.
 */
function checkPassable(
  { type, vector, dimensions, size, name, parameter }: FormalShape,
  { sink }: ModuleContext,
): void {
  const small = type.kind === "pred" || ((type.kind === "u" || type.kind === "s") && type.bits < 32);
  if (!small || vector > 1 || dimensions.length > 0) return;
  sink.error("small-parameter", parameter.type, `a .${type.name} parameter cannot be passed to a function`, {
    help: `use \`.b32\`, or \`.param .align ${size} .b8 ${name}[${size}]\``,
  });
}

function checkUnsized(
  shape: FormalShape,
  owner: Owner,
  returned: boolean,
  last: boolean,
  context: ModuleContext,
): void {
  const { sink } = context;
  if (owner === "entry") sink.error("unsized-parameter", shape.span, "a kernel's parameter must have a size");
  else if (returned) sink.error("unsized-parameter", shape.span, "a return parameter must have a size");
  else if (!last) sink.error("unsized-parameter", shape.span, "only the last parameter can be without a size");
  else if (shape.space === "param") {
    context.require({ since: "6.0", target: "sm_30" }, "a parameter without a size", shape.span);
  }
}

/** Checks `.ptr`, which describes what a kernel's parameter points to (5.1.6.3). */
function checkPointer({ pointer }: Parameter, owner: Owner, context: ModuleContext): void {
  if (pointer === null) return;
  const { sink } = context;
  context.require({ since: "2.2" }, "'.ptr'", pointer.span);
  if (owner !== "entry") {
    sink.error("parameter-pointer", pointer.span, "'.ptr' is only for the parameters of kernels");
  } else if (pointer.space !== null && !["const", "global", "local", "shared"].includes(pointer.space)) {
    sink.error("parameter-pointer", pointer.span, `a parameter cannot point to the .${pointer.space} state space`);
  } else if (pointer.align !== null && !isPowerOfTwo(pointer.align)) {
    sink.error("alignment", pointer.span, `an alignment of ${pointer.align} is not a power of two`);
  }
}

/** Checks the total size of a kernel's parameters (5.1.6.1). */
function checkParameterSpace(params: readonly FormalShape[], { sink, version }: ModuleContext): void {
  const limit = version >= 801 ? 32764 : version >= 105 ? 4352 : 256;
  let end = 0;
  for (const { align, size, span } of params) {
    end = Math.ceil(end / align) * align + size;
    if (end > limit) {
      sink.error(
        "parameter-size",
        span,
        `the parameters take more than ${limit} bytes, the limit of this PTX ISA version`,
        {
          help: "pass a pointer to the data",
        },
      );
      return;
    }
  }
}

/** How the first of two declarations of one function differs from the second, apart from names; null if it does not. */
export function signatureDifference(a: CallSignature, b: CallSignature): string | null {
  if (a.returns.length !== b.returns.length) return "with a different number of return parameters";
  if (a.params.length !== b.params.length) return "with a different number of parameters";
  for (const [one, other] of zip([...a.returns, ...a.params], [...b.returns, ...b.params])) {
    if (one.space !== other.space) return `'${one.name}' is in the .${one.space} state space`;
    if (one.type !== other.type || one.vector !== other.vector) return `'${one.name}' is a .${one.type.name}`;
    if (one.dimensions.length !== other.dimensions.length || one.size !== other.size)
      return `'${one.name}' has a different size`;
    if (one.align !== other.align) return `'${one.name}' is aligned to ${one.align} bytes`;
  }
  return null;
}

function* zip<T>(a: readonly T[], b: readonly T[]): Generator<readonly [T, T]> {
  for (const [i, one] of a.entries()) yield [one, b[i]!];
}
