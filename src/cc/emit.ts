import type { WasmTy } from "../wasm/operation.ts";
import { type Block, type Graph, type Node, reversePostorder } from "./graph.ts";
import type { ReadModule, Signature } from "./module-reader.ts";
import type { ValueOp } from "../wasm/value-ops.ts";
import { expressionOf, narrowedText, type Quads, shuffle, shuffleOf, widenedText } from "./c-operations.ts";
import { narrowingOf, wideningOf } from "./conversions.ts";
import { isMaskConstant, type Pack, type Packer } from "./packs.ts";
import { isPack, type Reduction, type Schedule, type Unit } from "./schedule.ts";

const cTypes: Readonly<Record<WasmTy, string>> = { i32: "u32", i64: "u64", f32: "f32", f64: "f64", v128: "v1" };

/** What stands for a value that nothing uses and that is not computed. */
const unusedValue = (ty: WasmTy): string => `((${cTypes[ty]}){0})`;

export const resultType = (results: readonly WasmTy[]): string => {
  if (results.length === 0) return "void";
  return results.length === 1 ? cTypes[results[0]!] : `struct r_${results.join("_")}`;
};

export const prototype = (name: string, { params, results }: Signature): string =>
  `${resultType(results)} ${name}(${["struct instance *e", ...params.map((ty, i) => `${cTypes[ty]} p${i}`)].join(", ")})`;

const hex = (bytes: readonly number[]): string[] => {
  const view = new DataView(Uint8Array.from(bytes).buffer);
  return Array.from({ length: bytes.length / 4 }, (_, i) => String(view.getInt32(4 * i, true)));
};

const cName = (op: string): string => op.replaceAll(".", "_");

/** A function that is to be written, and what has been found out about it. */
interface FunctionParts {
  readonly module: ReadModule;
  readonly graph: Graph;
  readonly packer: Packer;
  readonly schedule: Schedule;
  readonly reductions: ReadonlyMap<Node, Reduction>;
}

/** Returns a function as C. @throws Cycle if some packs need each other */
export const cFunction = (parts: FunctionParts, name: string, type: Signature): string =>
  new Emitter(parts).write(name, type);

class Emitter {
  readonly #module: ReadModule;
  readonly #graph: Graph;
  readonly #packer: Packer;
  readonly #schedule: Schedule;
  readonly #reductions: ReadonlyMap<Node, Reduction>;
  readonly #lines: string[] = [];
  /** Whether the function has loops, whose rounds are counted in a variable of its own. */
  #counts = false;
  /** Names by type. */
  readonly #declared = new Map<string, Set<string>>();

  constructor({ module, graph, packer, schedule, reductions }: FunctionParts) {
    this.#module = module;
    this.#graph = graph;
    this.#packer = packer;
    this.#schedule = schedule;
    this.#reductions = reductions;
  }

  write(name: string, type: Signature): string {
    const order = reversePostorder(this.#graph);
    const places = new Map(order.map((block, i) => [block, i]));
    const isLoop = (block: Block): boolean =>
      block.predecessors.some((from) => (places.get(from) ?? -1) >= places.get(block)!);
    this.#counts = order.some(isLoop);
    for (const [i, block] of order.entries()) {
      this.#lines.push(`L${block.id}:;`);
      for (const phi of block.phis) {
        const unit = this.#schedule.unitOf(phi);
        if (this.#schedule.isNeeded(unit)) this.#declare(unit);
      }
      if (isLoop(block)) this.#lines.push("ROUND");
      for (const unit of this.#schedule.order(block)) this.#unit(unit);
      this.#end(block, order[i + 1], type);
    }
    const declarations = [...this.#declared].map(([ty, names]) => `${ty} ${[...names].join(", ")};`);
    const check = this.#mayNest()
      ? ["if ((char *)__builtin_frame_address(0) < e->stack_end) trap(e, trap_stack);"]
      : [];
    const counter = this.#counts ? ["u32 rounds = e->rounds;"] : [];
    const head = [
      `static ${prototype(name, type)} {`,
      "u8 *const m = e->memory;",
      ...counter,
      ...declarations,
      ...check,
    ];
    return [...head, ...this.#lines, "}", ""].join("\n");
  }

  /** Whether the function calls others of the module. */
  #mayNest(): boolean {
    const first = this.#module.imports.length;
    return this.#graph.blocks.some(({ nodes }) =>
      nodes.some(({ op, immediates }) => op === "callIndirect" || (op === "call" && immediates[0]! >= first)),
    );
  }

  #nameOf(unit: Unit): string {
    return isPack(unit) ? `w${unit.id}` : `t${unit.id}`;
  }

  #typeOf(unit: Unit): string {
    if (!isPack(unit))
      return unit.op === "call" || unit.op === "callIndirect" ? this.#callType(unit) : cTypes[unit.ty!];
    return unit.mask === null ? `v${unit.members.length}` : `m${unit.members.length}`;
  }

  #declare(unit: Unit): string {
    const [name, ty] = [this.#nameOf(unit), this.#typeOf(unit)];
    const names = this.#declared.get(ty) ?? new Set<string>();
    this.#declared.set(ty, names.add(name));
    return name;
  }

  #signatureOf(call: Node): Signature {
    const [index] = call.immediates;
    if (call.op === "callIndirect") return this.#module.types[index!]!;
    const { imports, functions } = this.#module;
    return (imports[index!] ?? functions[index! - imports.length]!).type;
  }

  #callType(call: Node): string {
    return resultType(this.#signatureOf(call).results);
  }

  #pointerType(call: Node): string {
    const { params } = this.#signatureOf(call);
    return `${this.#callType(call)} (*)(${["struct instance *", ...params.map((ty) => cTypes[ty])].join()})`;
  }

  /** A single value as an expression. */
  #value(node: Node): string {
    if (node.op === "const") return this.#constant(node);
    if (node.op === "param") return `p${node.immediates[0]}`;
    const owner = this.#packer.owner.get(node);
    if (!this.#schedule.isNeeded(owner?.pack ?? node)) return unusedValue(node.ty!);
    if (owner === undefined) return `t${node.id}`;
    const { pack, at } = owner;
    if (pack.members.length === 1) return `w${pack.id}`;
    return pack.mask === null ? `part${pack.members.length}(w${pack.id}, ${at})` : `mask_part(w${pack.id}, ${at})`;
  }

  #constant({ ty, constant }: Node): string {
    switch (ty) {
      case "i32":
        return `${(constant as number) >>> 0}u`;
      case "i64":
        return `${BigInt.asUintN(64, constant as bigint)}ull`;
      case "f32":
        return `f32_bits(${(constant as number) >>> 0}u)`;
      case "f64":
        return `f64_bits(${BigInt.asUintN(64, constant as bigint)}ull)`;
      default:
        return `((v1){${hex(constant as readonly number[]).join()}})`;
    }
  }

  /** A wide value as an expression, as a vector or as a mask. */
  #wide(pack: Pack, asMask = false): string {
    const n = pack.members.length;
    if (pack.kind === "const") {
      if (asMask) return `${maskOf(pack)}`;
      return `((v${n}){${pack.members.flatMap((c) => hex(c.constant as readonly number[])).join()}})`;
    }
    if (pack.kind === "same") return `same${n}(${this.#value(pack.args[0] as Node)})`;
    if (pack.kind === "splat")
      return expressionOf(pack.members[0]!.op as ValueOp, n as Quads, [this.#value(pack.args[0] as Node)]);
    if (pack.kind === "build") {
      const sources = this.#packer.sourcesOf(pack.members);
      if (sources !== null && sources[0]!.members.length === n) return this.#arranged(pack.members, sources);
      return `build${n}(${pack.members.map((v) => this.#value(v)).join()})`;
    }
    if (!this.#schedule.isNeeded(pack)) return asMask ? "0" : `same${n}(${unusedValue("v128")})`;
    if (pack.mask === null) return asMask ? `to_mask_${n}(w${pack.id})` : `w${pack.id}`;
    return asMask ? `w${pack.id}` : `from_mask_${n}(w${pack.id})`;
  }

  /** One or two vectors as a value, which half a pack may be. */
  #few(nodes: readonly Node[]): string {
    const [first, second] = nodes as [Node, Node?];
    if (second === undefined) return this.#value(first);
    const [one, other] = [this.#packer.owner.get(first), this.#packer.owner.get(second)];
    if (one === undefined || one.pack !== other?.pack || one.at % 2 > 0 || other.at !== one.at + 1)
      return `build2(${this.#value(first)},${this.#value(second)})`;
    const all = this.#wide(one.pack);
    return one.pack.members.length === 2 ? all : `half4(${all}, ${one.at / 2})`;
  }

  /** Whole vectors of one or two packs. */
  #arranged(vectors: readonly Node[], sources: readonly Pack[]): string {
    const bytes = Array.from({ length: 16 }, (_, i) => i);
    return this.#shuffled(
      vectors.flatMap((vector) => bytes.map((byte) => [vector, byte] as const)),
      sources,
    );
  }

  /** Bytes of vectors that are members of one or two packs. */
  #shuffled(bytes: readonly (readonly [Node, number])[], sources: readonly Pack[]): string {
    const [a, b = a] = sources as [Pack, Pack?];
    const n = a.members.length;
    const indices = bytes.map(([vector, byte]) => {
      const at = a.members.indexOf(vector);
      return byte + 16 * (at >= 0 ? at : n + b.members.indexOf(vector));
    });
    return shuffleOf(n, [this.#wide(a), this.#wide(b)], indices);
  }

  #unit(unit: Unit): void {
    if (isPack(unit)) this.#pack(unit);
    else this.#node(unit);
  }

  #pack(pack: Pack): void {
    const n = pack.members.length;
    const [first] = pack.members as [Node];
    const { op } = first;
    if (pack.kind === "shuffle") {
      const bytes = pack.members.flatMap(({ args: [a, b], immediates }) =>
        immediates.map((i) => [i < 16 ? a! : b!, i % 16] as const),
      );
      this.#lines.push(`${this.#declare(pack)} = ${this.#shuffled(bytes, pack.args as Pack[])};`);
      return;
    }
    if (pack.kind === "widen") {
      const sources = pack.args as Node[];
      const operands = wideningOf(first)!.from.map((_, i) => this.#few(sources.slice((n / 2) * i, (n / 2) * (i + 1))));
      this.#lines.push(`${this.#declare(pack)} = ${widenedText(wideningOf(first)!.op, n, operands)};`);
      return;
    }
    if (pack.kind === "narrow") {
      const sources = (pack.args as Pack[]).map((source) => this.#wide(source));
      this.#lines.push(`${this.#declare(pack)} = ${narrowedText(narrowingOf(first)!.op, n, sources)};`);
      return;
    }
    const args = pack.args.map((arg) => (isPack(arg) ? this.#wide(arg, this.#takesMask(pack, arg)) : this.#value(arg)));
    const offset = first.immediates[0]!;
    if (op === "v128.store") this.#lines.push(`store_${n}(at(m, ${args[0]}, ${offset}u), ${args[1]});`);
    else {
      const name = this.#declare(pack);
      if (op === "v128.load") this.#lines.push(`${name} = load_${n}(at(m, ${args[0]}, ${offset}u));`);
      else if (op === "i8x16.shuffle") this.#lines.push(`${name} = ${shuffle(first.immediates, n, args)};`);
      else {
        const masked = pack.mask !== null || (op === "v128.bitselect" && this.#takesMask(pack, pack.args[2] as Pack));
        const text = masked
          ? `${cName(op)}${pack.mask === null ? "_by" : "_m"}_${n}(${args.join()})`
          : expressionOf(op as ValueOp, n as Quads, [...args, ...first.immediates.map(String)]);
        this.#lines.push(`${name} = ${text};`);
      }
    }
  }

  #takesMask(pack: Pack, arg: Pack): boolean {
    const { op } = pack.members[0]!;
    if (pack.mask !== null) return op.startsWith("v128.") || op === "phi";
    return op === "v128.bitselect" && arg === pack.args[2] && arg.mask !== null;
  }

  #node(node: Node): void {
    const { op, immediates } = node;
    const reduction = this.#reductions.get(node);
    if (reduction !== undefined) {
      this.#lines.push(`${this.#declare(node)} = ${this.#reduced(reduction)};`);
      return;
    }
    if (op === "param") return;
    if (op === "call" || op === "callIndirect") {
      this.#call(node);
      return;
    }
    const args = node.args.map((arg) => (arg.ty === null ? "" : this.#value(arg)));
    const [offset, lane] = immediates;
    const place = (): string => `at(m, ${args[0]}, ${offset}u)`;
    let text: string;
    if (op === "result") {
      const { results } = this.#signatureOf(node.args[0]!);
      text = results.length === 1 ? `t${node.args[0]!.id}` : `t${node.args[0]!.id}.v${offset}`;
    } else if (op === "select") text = `${args[2]} ? ${args[0]} : ${args[1]}`;
    else if (op === "i8x16.shuffle") text = shuffle(immediates, 1, args);
    else if (op === "memory.fill") text = `memset(m + ${args[0]}, (int)${args[1]}, ${args[2]})`;
    else if (op === "memory.copy") text = `memmove(m + ${args[0]}, m + ${args[1]}, ${args[2]})`;
    else if (op === "global.get") text = `e->globals[${offset}]`;
    else if (op === "global.set") text = `e->globals[${offset}] = ${args[0]}`;
    else if (op === "v128.load") text = `load_1(${place()})`;
    else if (op === "v128.store") text = `store_1(${place()}, ${args[1]})`;
    else if (/load|store|atomic/.test(op) && !op.includes("global")) {
      text = `${cName(op)}(${[place(), ...args.slice(1), ...(lane === undefined ? [] : [lane])].join()})`;
    } else text = expressionOf(op as ValueOp, 1, [...args, ...immediates.map(String)]);
    this.#lines.push(node.ty === null ? `${text};` : `${this.#declare(node)} = ${text};`);
  }

  #reduced({ packs, op, limit }: Reduction): string {
    const n = packs[0]!.members.length as Quads;
    if (limit !== null) {
      const most = packs.map((p) => this.#wide(p)).reduce((a, b) => expressionOf("i32x4.max_u", n, [a, b]));
      return `any_above_${n}(${most}, ${this.#wide(limit)})`;
    }
    if (op === "nan_f32" || op === "nan_f64") {
      const add = op === "nan_f32" ? "f32x4.add" : "f64x2.add";
      return `${op}_${n}(${packs.map((p) => this.#wide(p)).reduce((a, b) => expressionOf(add, n, [a, b]))})`;
    }
    const areMasks = packs.every((p) => p.mask !== null);
    const values = packs.map((p) => this.#wide(p, areMasks)).join(op === "any" ? " | " : " & ");
    if (op === "bits") return areMasks ? values : `to_mask_${n}(${values})`;
    if (!areMasks) return `${op}_${n}(${values})`;
    if (op === "any") return `(${values}) != 0`;
    return `(${values}) ${op === "all" ? "==" : "!="} ${n === 4 ? "0xffff" : "0xff"}`;
  }

  #call(node: Node): void {
    const { imports } = this.#module;
    const [index] = node.immediates;
    const args = node.args.map((arg) => this.#value(arg));
    const result = this.#callType(node) === "void" ? "" : `${this.#declare(node)} = `;
    if (node.op === "callIndirect") {
      const at = args.pop()!;
      this.#countAcross(
        `${result}((${this.#pointerType(node)})table_entry(e, ${at}, ${index}))(${["e", ...args].join()});`,
      );
      return;
    }
    const operands = `(${["e", ...args].join()});`;
    if (imports[index!] === undefined) this.#countAcross(`${result}code_${index}${operands}`);
    else this.#lines.push(`${result}ask${index}${operands}`);
  }

  /** A call of a function that counts the rounds of its loops with those of this one. */
  #countAcross(call: string): void {
    this.#lines.push(...(this.#counts ? ["e->rounds = rounds;", call, "rounds = e->rounds;"] : [call]));
  }

  #end(block: Block, next: Block | undefined, type: Signature): void {
    const { end, successors } = block;
    const jump = (i: number): string => this.#edge(block, successors[i]!, next);
    if (end.kind === "goto") this.#lines.push(jump(0));
    else if (end.kind === "branch") {
      const condition =
        end.likely === null ? this.#value(end.on) : `__builtin_expect(!!${this.#value(end.on)}, ${Number(end.likely)})`;
      this.#lines.push(`if (${condition}) { ${this.#edge(block, successors[0]!, undefined)} }`, jump(1));
    } else if (end.kind === "table") {
      const cases = successors.map(
        (_, i) =>
          `${i === successors.length - 1 ? "default" : `case ${i}`}: { ${this.#edge(block, successors[i]!, undefined)} }`,
      );
      this.#lines.push(`switch (${this.#value(end.on)}) { ${cases.join(" ")} }`);
    } else if (end.kind === "unreachable") this.#lines.push("trap(e, trap_unreachable);");
    else {
      const values = end.values.map((v) => this.#value(v));
      if (this.#counts) this.#lines.push("e->rounds = rounds;");
      if (values.length === 0) this.#lines.push("return;");
      else if (values.length === 1) this.#lines.push(`return ${values[0]};`);
      else this.#lines.push(`return (${resultType(type.results)}){${values.join()}};`);
    }
  }

  /** Goes to a block, with the values that its phis have then. */
  #edge(from: Block, to: Block, next: Block | undefined): string {
    const at = to.predecessors.indexOf(from);
    const seen = new Set<Unit>();
    const copies: [Unit, string, string][] = [];
    for (const phi of to.phis) {
      const unit = this.#schedule.unitOf(phi);
      if (seen.has(unit) || !this.#schedule.isNeeded(unit)) continue;
      seen.add(unit);
      if (isPack(unit)) {
        const value = this.#wide(unit.args[at] as Pack, unit.mask !== null);
        copies.push([unit, this.#nameOf(unit), value]);
      } else copies.push([unit, this.#nameOf(unit), this.#value(phi.args[at]!)]);
    }
    const real = copies.filter(([, name, value]) => name !== value);
    const jump = to === next ? "" : `goto L${to.id};`;
    if (real.length === 0) return jump;
    if (real.length === 1) return `${real[0]![1]} = ${real[0]![2]}; ${jump}`;
    const first = real.map(([unit, name, value]) => `const ${this.#typeOf(unit)} x${name} = ${value};`);
    return `{ ${first.join(" ")} ${real.map(([, name]) => `${name} = x${name};`).join(" ")} } ${jump}`;
  }
}

const maskOf = (pack: Pack): string => {
  const bits = pack.members.flatMap((c) => hex(c.constant as readonly number[]));
  if (!isMaskConstant(pack, 4)) throw new Error("no mask");
  return String(bits.reduce((sum, word, i) => sum + (word === "0" ? 0 : 2 ** i), 0));
};
