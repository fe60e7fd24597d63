import type { OperandSpec, Row } from "../../../src/visa/isa/row.ts";
import { fileItems, type Suffix, type TextItem, textItems } from "../../../src/visa/isa/template.ts";
import type {
  Immediate,
  Instruction,
  LscAddress,
  LscData,
  Operand,
  Routine,
  Statement,
  VectorOperand,
} from "../../../src/visa/tree.ts";
import { type DataType, isSigned, typeBytes } from "../../../src/visa/types.ts";
import { SourceText } from "../../../src/source/index.ts";
import { declare, name, nowhere } from "../declare.ts";

const general = (extra: Partial<Extract<VectorOperand, { kind: "general" }>>): VectorOperand => ({
  kind: "general",
  variable: name("X"),
  row: 1,
  column: 2,
  region: { vertical: 8, width: 4, horizontal: 2 },
  modifier: null,
  ...nowhere,
  ...extra,
});

/** With the sign bit set: files store signed numbers of less than 32 bits extended. */
function immediate(type: DataType): Immediate {
  const width = 8 * typeBytes(type);
  const bits = BigInt.asUintN(width, 0x8123_4567_fedc_ba98n);
  const extended = width < 32 && isSigned(type) ? BigInt.asUintN(32, BigInt.asIntN(width, bits)) : bits;
  return { kind: "immediate", type, bits: extended, ...nowhere };
}

type VectorSpec = Extract<OperandSpec, { class: "vector" }>;

/** Each form that the row allows, with extreme numbers. */
function vectors({ role, forms, types, modifiers }: VectorSpec): Operand[] {
  const dst = role === "dst";
  const region = dst ? { vertical: null, width: null, horizontal: 2 } : { vertical: 8, width: 4, horizontal: 2 };
  const multiple = dst ? region : { vertical: null, width: 1, horizontal: 0 };
  const indirect = { kind: "indirect", variable: name("A1"), element: 3, type: "w", modifier: null } as const;
  const ofForm: Record<VectorSpec["forms"][number], () => Operand[]> = {
    general: () => [
      general({ region }),
      general({ region, row: 255, column: 255, variable: name("%null") }),
      ...(modifiers === "arithmetic" ? (["abs", "neg", "neg-abs"] as const) : []).map((m) => general({ modifier: m })),
      ...(modifiers === "logic" ? [general({ modifier: "not" })] : []),
    ],
    indirect: () => [
      { ...indirect, variable: name("A1"), offset: -512, region, ...nowhere },
      { ...indirect, variable: name("A0"), offset: 511, region: multiple, ...nowhere },
    ],
    immediate: () => types.filter((type) => type !== "bool").map(immediate),
    address: () => [{ kind: "address", variable: name("A1"), element: 4, width: 16, ...nowhere }],
    // Where variables are allowed too, a file does not distinguish their addresses.
    "address-of": () =>
      forms.includes("general")
        ? []
        : [
            { kind: "address-of", variable: name("X"), offset: 68, ...nowhere },
            { kind: "address-of", variable: name("T6"), offset: 4, ...nowhere },
          ],
    predicate: () => [{ kind: "name", name: name("P2"), ...nowhere }],
    state: () => [
      { kind: "state", variable: name("T6"), element: 2, ...nowhere },
      { kind: "state", variable: name("S1"), element: 0, ...nowhere },
    ],
  };
  return forms.flatMap((form) => ofForm[form]());
}

const raw = (text: string, offset = 0): Extract<Operand, { kind: "raw" }> => ({
  kind: "raw",
  variable: name(text),
  offset,
  ...nowhere,
});

function addresses(row: Row): LscAddress[] {
  const fields = new Set(
    fileItems(row)?.flatMap((item) => (item.kind === "operand" && item.operand === "address" ? [item.part ?? ""] : [])),
  );
  const bases = [0, 1, 2, 3, 4, 5].filter((i) => fields.has(`base${i}`));
  const vectorBases = Object.values(row.operands).some((spec) => spec.class === "lsc-data" && spec.shape === "block");
  const address = (model: LscAddress["model"], surface: VectorOperand | null): LscAddress => ({
    kind: "lsc-address",
    model,
    surface,
    surfaceOffset: null,
    scale: fields.has("scale") && model === "bti" ? 4 : 1,
    base: [
      ...bases.map((i) => ({
        operand: vectorBases ? (i === 0 ? general({}) : immediate("ud")) : raw("X", 64 * i),
        offset: i === 0 && fields.has("offset") ? -16 : 0,
      })),
      ...(fields.has("pitch") ? [{ operand: immediate("ud"), offset: 0 }] : []),
    ],
    size: fields.has("size") ? 64 : null,
    ...nowhere,
  });
  if (!fields.has("surface")) return [address("flat", null)];
  return [
    address("flat", null),
    address("arg", null),
    address("bti", immediate("ud")),
    address("ss", general({ region: scalar })),
  ];
}

const scalar = { vertical: 0, width: 1, horizontal: 0 };

function data(shape: Extract<OperandSpec, { class: "lsc-data" }>["shape"], size: string, vector: number): LscData {
  const block = { blocks: 2, width: 16, height: 8, transposed: true, vnni: true };
  return {
    kind: "lsc-data",
    register: raw("X", 32),
    size,
    vector: shape === "vector" ? vector : 1,
    transposed: shape === "vector" && vector > 4,
    channels: shape === "channels" ? 5 : null,
    block: shape === "block" ? block : null,
    ...nowhere,
  };
}

/** The operands that a row may have; undefined if left out. */
function choices(row: Row, operand: string, spec: OperandSpec): (Operand | undefined)[] {
  const names = (...texts: string[]): Operand[] =>
    texts.map((text) => ({ kind: "name", name: name(text), ...nowhere }));
  switch (spec.class) {
    case "vector":
      return vectors(spec);
    case "raw":
      return [raw("X"), raw("X", 65535), raw("%null")];
    case "list":
      return [{ kind: "list", items: row.opcode === 0x71 ? outputs() : [raw("X"), raw("%null")], ...nowhere }];
    case "predicate":
      return names("P1", "P2");
    case "surface":
      return names("T6", "%bss");
    case "sampler":
      return names("S1", "S31");
    case "kernel":
      return names("other");
    case "label":
      return names(spec.of === "block" ? "there" : "routine");
    case "labels":
      return [{ kind: "names", names: [name("there"), name("here"), name("there")], ...nowhere }];
    case "routine":
      return names("callee");
    case "variable":
      return names("X", "A1", "P1");
    case "string":
      return operand === "mode"
        ? [{ kind: "string", text: "<RTI><Z>", ...nowhere }]
        : [{ kind: "string", text: "a b.cl", ...nowhere }];
    case "number":
      return [spec.from, spec.to].map((value) => ({ kind: "number", value, ...nowhere }));
    case "option": {
      const optional = optionals(row).has(operand);
      // If several names have the same code, readers give the first.
      const all = Object.entries(spec.choices)
        .filter(([, code], i, entries) => entries.findIndex(([, other]) => other === code) === i)
        .filter(([choice, code]) => !optional || (choice !== spec.byDefault && (spec.byDefault || code !== 0)))
        .map(([choice]): Operand => ({ kind: "option", choice, ...nowhere }));
      return optional ? [undefined, ...all] : all;
    }
    case "lsc-address":
      return addresses(row);
    case "lsc-data":
      return [data(spec.shape, "d32", 1), data(spec.shape, "d8c32", 4), data(spec.shape, "d64", 64)];
  }
}

/** The values of the mode <RTI><Z>. */
const outputs = () => [raw("%null"), immediate("ud"), raw("X"), raw("X"), raw("X"), raw("X"), raw("X", 32)];

function optionals(row: Row): ReadonlySet<string> {
  const parts = textItems(row).flatMap((item): (Suffix | TextItem)[] =>
    item.kind === "mnemonic" ? [...item.suffixes] : [item],
  );
  return new Set(parts.flatMap((part) => (part.kind === "operand" && part.optional ? [part.operand] : [])));
}

/** Instructions of a row that together have every choice of each of its operands. */
export function samplesOf(row: Row): Instruction[] {
  const items = fileItems(row) ?? [];
  const held = new Set(
    items.flatMap((item) => {
      if (item.kind === "operand") return [item.operand];
      return item.kind === "packed" ? item.parts.flatMap((p) => (typeof p === "number" ? [] : [p.operand])) : [];
    }),
  );
  const texts = textItems(row);
  const sat = texts.some((item) => item.kind === "mnemonic" && item.suffixes.some((s) => s.kind === "sat"));
  const operands = Object.entries(row.operands).filter(([operand]) => held.has(operand));
  const all = operands.map(([operand, spec]) => [operand, choices(row, operand, spec)] as const);
  const count = Math.max(1, ...all.map(([, list]) => list.length));
  return Array.from({ length: count }, (_, i) => {
    const chosen = Object.fromEntries(
      all.flatMap(([operand, list]) => {
        const choice = fresh(list[i % list.length]);
        return choice === undefined ? [] : [[operand, choice]];
      }),
    );
    const execs = items.some((item) => item.kind === "exec") ? [1, 2, 4, 8, 16, 32] : [8, 16, 1];
    const hasExec = items.some((item) => item.kind === "exec" || item.kind === "exec-elements");
    const size = execs[i % execs.length]!;
    return {
      kind: "instruction",
      row,
      mnemonic: name(row.mnemonic),
      predicate:
        items.some((item) => item.kind === "pred") && i % 3 > 0
          ? { name: name("P2"), inverted: i % 2 === 0, collapse: ([null, "any", "all"] as const)[i % 3]!, ...nowhere }
          : null,
      saturate: sat && i % 2 === 1 && Object.values(chosen).some((o) => o.kind === "general" || o.kind === "indirect"),
      exec: hasExec ? { size, offset: size <= 4 ? 28 : 0, noMask: i % 2 === 0, ...nowhere } : null,
      operands: paired(row, chosen),
      ...nowhere,
    };
  });
}

/** A copy with new name objects. */
function fresh<T>(value: T): T {
  return structuredClone(value);
}

/** Paired suffixes are either both there or both left out. */
function paired(row: Row, operands: Record<string, Operand>): Record<string, Operand> {
  const mnemonic = textItems(row).find((item) => item.kind === "mnemonic");
  if (mnemonic?.kind !== "mnemonic") return operands;
  const complete = { ...operands };
  mnemonic.suffixes.forEach((suffix, i) => {
    const before = mnemonic.suffixes[i - 1];
    if (suffix.kind !== "operand" || !suffix.paired || before?.kind !== "operand") return;
    for (const [there, missing] of [
      [before.operand, suffix.operand],
      [suffix.operand, before.operand],
    ] as const) {
      const spec = row.operands[missing];
      if (complete[there] && !complete[missing] && spec?.class === "option") {
        complete[missing] = { kind: "option", choice: spec.byDefault ?? "", ...nowhere };
      }
    }
  });
  return complete;
}

/** A function with these instructions and declarations of everything that they mention. */
export function routineOf(instructions: readonly Instruction[]): Routine {
  const label = (text: string): Statement => ({ kind: "label", name: name(text), ...nowhere });
  const directive = (text: string): Statement => ({ kind: "function-directive", name: name(text), ...nowhere });
  return {
    kind: "function",
    name: name("f"),
    version: null,
    statements: [
      declare("G", "X", 64, { type: "ud", align: "GRF" }),
      declare("A", "A0", 1),
      declare("A", "A1", 16),
      declare("P", "P1", 32),
      declare("P", "P2", 32),
      declare("S", "S0", 1),
      declare("S", "S1", 1),
      declare("T", "T6", 4),
      directive("f"),
      label("f"),
      label("here"),
      ...instructions,
      label("there"),
      directive("routine"),
      label("routine"),
    ],
    ...nowhere,
  };
}

export const fileOf = (routine: Routine) => ({
  source: new SourceText("sample.visaasm", ""),
  version: { major: 3, minor: 6, ...nowhere },
  routines: [routine],
  comments: [],
});
