import { expect, test } from "vitest";
import { type Prim, prims, type Ty, type Value } from "../../../src/semantics/index.ts";
import { machineFeatures, type Wasm } from "../../../src/wasm/index.ts";
import { type Application, EmittedModule, type Form, lanesOf } from "./emitted-module.ts";
import { columnsOf, draw, Random, specials } from "./operands.ts";
import { unemitted } from "./unemitted.ts";

const table: readonly (readonly [string, Prim])[] = Object.entries(prims);
const formsOf = (prim: Prim): Form[] => (["scalar", "quad", "half"] as const).filter((form) => prim.wasm[form]);
const isFloat = (ty: Ty): boolean => ty === "f32" || ty === "f64";
const isLong = (ty: Ty): boolean => ty === "i64" || ty === "f64";

/** Whether an emission makes something else of an operand that it can see into. */
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

/** Constants that an emission may make a shorter form of: one for all lanes, and one for each. */
function constantsOf(ty: Ty, form: Form): (readonly Value[])[] {
  const random = new Random(1);
  const drawn = Array.from({ length: 64 }, () => draw(ty, random));
  const same = [...specials[ty], ...drawn].map((value) => [value]);
  if (form === "scalar") return same;
  const different = Array.from({ length: 8 }, (_, i) =>
    Array.from({ length: lanesOf[form] }, (_, lane) => (i % 2 ? drawn[8 * i + lane]! : random.pick(specials[ty]))),
  );
  return [...same, ...different];
}

interface Subject {
  readonly general: readonly Application[];
  /** By the operand that is fixed. */
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
const applications = [...subjects.values()].flatMap(({ general, fixed }) => [...general, ...fixed]);
/** Without anything that a machine may lack, and with what this one has. */
const modules = [{ fusedMadd: false }, machineFeatures()].map((features) => ({
  features: features.fusedMadd ? "fused multiply-adds" : "no features",
  emitted: new EmittedModule(applications, features),
}));

const show = (value: Value | null): string =>
  typeof value === "number"
    ? Object.is(value, -0)
      ? "-0"
      : `${value}`
    : typeof value === "bigint"
      ? `${value}n`
      : `${value}`;

/** The first few rows in which the module and `eval` differ. */
function differences(
  application: Application,
  columns: readonly (readonly Value[])[],
  expected: readonly Value[],
): string[] {
  return modules.flatMap(({ features, emitted }) => {
    const results = emitted.run(application, columns);
    const rows = results.flatMap((result, row) => (Object.is(result, expected[row]) ? [] : [row]));
    return rows.slice(0, 4).map((row) => {
      const operands = columns.map((column) => show(column[row]!)).join(", ");
      const which = `${application.name}, ${features}`;
      return `${which}: (${operands}) gave ${show(results[row]!)}, not ${show(expected[row]!)}`;
    });
  });
}

function evaluated(prim: Prim, columns: readonly (readonly Value[])[]): Value[] {
  const evaluate = prim.eval as (...operands: Value[]) => Value;
  return columns[0]!.map((_, row) => evaluate(...columns.map((column) => column[row]!)));
}

/** Rows that a primitive is tried with: reference arithmetic on floating-point numbers takes its time. */
const limitOf = (prim: Prim): number => ([...prim.params, prim.result].some(isFloat) ? 0x4000 : 0x1_0000);

test.each(table.filter(([, prim]) => formsOf(prim).length > 0))(
  "%s is in WebAssembly what it is in eval",
  (_, prim) => {
    const columns = columnsOf(prim.params, limitOf(prim), 4096);
    const expected = evaluated(prim, columns);
    const { general, fixed } = subjects.get(prim)!;
    expect(general.flatMap((application) => differences(application, columns, expected))).toEqual([]);

    const few = columnsOf(prim.params, 512, 64);
    const among = fixed.flatMap((application) => {
      const { position, constants } = application.fixed!;
      const ty = prim.params[position]!;
      return (constants === null ? specials[ty].map((value) => [value]) : [constants]).flatMap((values) => {
        const columns = few.map((column, i) =>
          i === position ? column.map((_, row) => values[row % values.length]!) : column,
        );
        return differences(application, columns, evaluated(prim, columns));
      });
    });
    expect(among.slice(0, 8)).toEqual([]);
  },
);

test("vectors have the lanes that the types of the primitive fit", () => {
  const wrong = table.filter(([, prim]) => prim.wasm[[...prim.params, prim.result].some(isLong) ? "quad" : "half"]);
  expect(wrong.map(([name]) => name)).toEqual([]);
});

test("no other primitives than the recorded ones are without a form", () => {
  const without = (forms: readonly Form[]) =>
    table.filter(([, prim]) => !forms.some((form) => prim.wasm[form])).map(([name]) => name);
  expect(without(["scalar"]).filter((name) => !unemitted.scalar.includes(name))).toEqual([]);
  expect(without(["quad", "half"]).filter((name) => !unemitted.vector.includes(name))).toEqual([]);
});
