import { expect, test } from "vitest";
import { type Prim, prims, type Ty, type Value } from "../../../src/semantics/index.ts";
import { machineFeatures, noFeatures, type Wasm } from "../../../src/wasm/index.ts";
import { differences, evaluated } from "./differences.ts";
import { type Application, EmittedModule, type Form, lanesOf } from "./emitted-module.ts";
import { columnsOf, draw, Random, specials } from "./operands.ts";
import { withoutVectors } from "./unemitted.ts";

const table: readonly (readonly [string, Prim])[] = Object.entries(prims);
const formsOf = (prim: Prim): Form[] => (["scalar", "quad", "half"] as const).filter((form) => prim.wasm[form]);
const isFloat = (ty: Ty): boolean => ty === "f32" || ty === "f64";
const hasFloats = (prim: Prim): boolean => [...prim.params, prim.result].some(isFloat);
const isLong = (ty: Ty): boolean => ty === "i64" || ty === "f64";

/** Whether an emission writes different code for an operand whose graph it can see. */
function looksAt(prim: Prim, form: Form, position: number): boolean {
  let looked = false;
  const operands = prim.params.map((ty, i): Wasm => {
    const operand: Wasm = { kind: "operand", ty: form !== "scalar" ? "v128" : ty === "pred" ? "i32" : ty, index: i };
    if (i !== position) return operand;
    return new Proxy(operand, { get: (target, key) => ((looked ||= key === "kind"), Reflect.get(target, key)) });
  });
  prim.wasm[form]!(...operands);
  return looked;
}

/** Constants for which an emission may have a shorter form: one that is the same in all lanes, and one that is not. */
function constantsOf(ty: Ty, form: Form): (readonly Value[])[] {
  const random = new Random(1);
  const drawn = Array.from({ length: 64 }, () => draw(ty, random));
  const special = specials[ty].filter((_, i) => ty === "i32" || i % 4 === 0);
  const same = [...special, ...drawn].map((value) => [value]);
  if (form === "scalar" || ty === "pred") return same;
  const lanes = [0, 1, 2, 3].map(() => [random.pick(special), random.pick(special), random.pick(drawn)] as const);
  const different = lanes.flatMap(([x, y, z]) => [
    ...[specials[ty][0]!, z].flatMap((w) => [
      [w, x, y, z],
      [x, y, z, w],
      [z, z, y, w],
      [x, y, x, y],
    ]),
  ]);
  return [...same, ...different.map((values) => values.slice(0, lanesOf[form]))];
}

interface Subject {
  readonly general: readonly Application[];
  /** By the index of the fixed operand. */
  readonly fixed: readonly Application[];
}

function subjectOf(name: string, prim: Prim): Subject {
  const forms = formsOf(prim);
  const general = forms.map((form): Application => ({ name: `${name} ${form}`, prim, form, fixed: null }));
  const fixed = forms.flatMap((form) =>
    [...prim.params.keys()]
      .filter((position) => looksAt(prim, form, position))
      .flatMap((position): Application[] => {
        const ty = prim.params[position]!;
        const place = `${name} ${form} with operand ${position}`;
        const constants = constantsOf(ty, form).map((values, i): Application => {
          return { name: `${place} = ${values.join()} (${i})`, prim, form, fixed: { position, constants: values } };
        });
        if (form === "scalar" || ty === "pred") return constants;
        return [...constants, { name: `${place} the same`, prim, form, fixed: { position, constants: null } }];
      }),
  );
  return { general, fixed };
}

const subjects = new Map(table.map(([name, prim]) => [prim, subjectOf(name, prim)]));
const applicationsOf = (prims: readonly Prim[]): Application[] =>
  prims.flatMap((prim) => [...subjects.get(prim)!.general, ...subjects.get(prim)!.fixed]);
const all = table.map(([, prim]) => prim);
const plain = new EmittedModule(applicationsOf(all), noFeatures);
/** Runs with this machine's extra features as well; they only matter for floating-point numbers. */
const equipped = new EmittedModule(applicationsOf(all.filter(hasFloats)), machineFeatures());
const modulesOf = (prim: Prim): EmittedModule[] => (hasFloats(prim) ? [plain, equipped] : [plain]);

/** The most rows of special values: all pairs of words. Reference arithmetic on floating-point numbers is slow. */
const limitOf = (prim: Prim): number => (hasFloats(prim) ? 0x4000 : 0x1_8000);

test.each(table)("%s gives the same in WebAssembly as in eval", (_, prim) => {
  const columns = columnsOf(prim.params, limitOf(prim), 4096);
  const expected = evaluated(prim, columns);
  const { general, fixed } = subjects.get(prim)!;
  for (const application of general) {
    for (const module of modulesOf(prim)) expect(differences(module, application, columns, expected)).toEqual([]);
  }

  const few = columnsOf(prim.params, 256, 64);
  for (const application of fixed) {
    const { position, constants } = application.fixed!;
    const choices = constants === null ? specials[prim.params[position]!].map((value) => [value]) : [constants];
    for (const values of choices) {
      const columns = few.with(
        position,
        few[position]!.map((_, row) => values[row % values.length]!),
      );
      const expected = evaluated(prim, columns);
      for (const module of modulesOf(prim)) expect(differences(module, application, columns, expected)).toEqual([]);
    }
  }
});

test("the types of a primitive determine how many lanes its vectors have", () => {
  const wrong = table.filter(([, prim]) => prim.wasm[[...prim.params, prim.result].some(isLong) ? "quad" : "half"]);
  expect(wrong.map(([name]) => name)).toEqual([]);
});

test("the primitives without a vector form are the recorded ones", () => {
  const without = table.filter(([, prim]) => !prim.wasm.quad && !prim.wasm.half).map(([name]) => name);
  expect(without).toEqual(withoutVectors);
});
