import { uniteAdjoiningQuads } from "./adjoining-quads.ts";
import { cFunction, prototype, resultType } from "./emit.ts";
import type { Node } from "./graph.ts";
import { GraphBuilder } from "./graph-builder.ts";
import { mergeBlocks } from "./merge-blocks.ts";
import { dropNanTests } from "./nan-tests.ts";
import { readModule, type ReadFunction, type ReadModule } from "./module-reader.ts";
import { Packer, seedsOf } from "./packs.ts";
import { dropDead, settle } from "./passes.ts";
import { prelude } from "./prelude.ts";
import { reductionsOf } from "./reductions.ts";
import { Cycle, type Reduction, Schedule } from "./schedule.ts";

/** What code is written for. */
export interface Target {
  /** The quads that a register has: 2 or 4, those with masks; 1: nothing is computed together. */
  readonly quads: 1 | 2 | 4;
}

/**
 * Returns a module of the compiler as C. It has one function that others can call, `run`, which takes an instance
 * (`struct instance` of the prelude) before its own parameters.
 *
 * @throws Untranslatable if the module has something for which there is no C
 */
export function translated(bytes: Uint8Array, target: Target): string {
  const module = readModule(bytes);
  const names = module.functions.map((_, i) => `code_${module.imports.length + i}`);
  const run = module.exports.find(({ name }) => name === "run")!;
  return [
    prelude,
    ...structsOf(module),
    ...module.imports.map(({ type }, i) => questionText(i, type)),
    ...module.functions.map(({ type }, i) => `static ${prototype(names[i]!, type)};`),
    ...tableOf(module),
    ...module.functions.map((f, i) => functionText(module, f, names[i]!, target)),
    '__attribute__((visibility("default"))) u32 run(struct instance *e, u32 context, u32 from, u32 to) {',
    `  return code_${run.index}(e, context, from, to);`,
    "}",
  ].join("\n");
}

/**
 * How often packs of a function are looked for without those that need themselves, as were found before; after that it
 * has none. Large functions take a second each time.
 */
const mostTries = 12;

/** The types of several results. */
function structsOf({ types }: ReadModule): readonly string[] {
  const several = new Map(
    types.filter(({ results }) => results.length > 1).map(({ results }) => [results.join("_"), results]),
  );
  return [...several].map(([key, results]) => {
    const fields = results.map((ty, i) => `${resultType([ty])} v${i};`);
    return `struct r_${key} { ${fields.join(" ")} };`;
  });
}

const letters = { i32: "i", i64: "l", f32: "f", f64: "d", v128: "v" } as const;

/** A function that asks one of the host. Numbers travel as 64 bits. */
function questionText(number: number, type: ReadFunction["type"]): string {
  const isFloat = (ty: string): boolean => ty.startsWith("f");
  const types = `${type.params.map((ty) => letters[ty]).join("")}>${type.results.map((ty) => letters[ty]).join("")}`;
  const args = type.params.map((ty, i) => (isFloat(ty) ? `bits_of_${ty}(p${i})` : `p${i}`));
  const call = `e->ask(e, first_import + ${number}, "${types}", a)`;
  const [result] = type.results;
  const answer = result !== undefined && isFloat(result) ? `${result}_bits(${call})` : call;
  const body = `u64 a[] = {${["0", ...args].slice(args.length > 0 ? 1 : 0).join()}};`;
  return `static ${prototype(`ask${number}`, type)} { ${body} ${result === undefined ? "" : "return "}${answer}; }`;
}

/** The table for calls by address: functions, and the numbers of their types. */
function tableOf({ table, types, functions, imports }: ReadModule): readonly string[] {
  if (table.length === 0) return [];
  const entries = table.map((index) => {
    if (index === null) return "{0, 0xffffffff}";
    return `{(void (*)(void))code_${index}, ${types.indexOf(functions[index - imports.length]!.type)}}`;
  });
  return [
    `static const struct { void (*function)(void); u32 type; } table[] = {${entries.join()}};`,
    "INLINE void (*table_entry(struct instance *e, u32 at, u32 type))(void) {",
    `  if (at >= ${table.length} || table[at].type != type) trap(e, trap_call);`,
    "  return table[at].function;",
    "}",
  ];
}

function functionText(module: ReadModule, f: ReadFunction, name: string, { quads }: Target): string {
  const builder = new GraphBuilder(module, f);
  const graph = builder.build();
  settle(graph);
  if (quads === 4) {
    dropNanTests(graph);
    settle(graph);
  }
  mergeBlocks(graph);
  if (quads > 1) uniteAdjoiningQuads(graph, quads);
  dropDead(graph);
  const refused = new Set<string>();
  for (let tries = 0; ; tries++) {
    const packer = new Packer(quads, refused);
    const packs = quads > 1 && tries < mostTries;
    if (packs) for (const group of seedsOf(graph, builder.groups)) packer.seedAll(group);
    const reductions = packs ? reductionsOf(graph, packer, quads) : new Map<Node, Reduction>();
    if (quads === 4) packer.findMasks();
    const schedule = new Schedule(graph, packer, reductions);
    try {
      return cFunction({ module, graph, packer, schedule, reductions }, name, f.type);
    } catch (error) {
      if (!(error instanceof Cycle)) throw error;
      for (const pack of error.packs) refused.add(pack.members.map((n) => n.id).join());
    }
  }
}
