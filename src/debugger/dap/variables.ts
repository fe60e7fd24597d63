import { typeName } from "../../dwarf/index.ts";
import { displayName } from "../../names/index.ts";
import { parseExpression } from "../expression/parse.ts";
import { addressOf, evaluate } from "../expression/evaluate.ts";
import type { Scope } from "../expression/scope.ts";
import type { Session } from "../session.ts";
import { builtinNames, builtinValue } from "../source/builtins.ts";
import { debugOf } from "../source/function-debug.ts";
import { shortText, sourceText } from "../source/source-text.ts";
import { type SourceValue, valueAt } from "../source/source-value.ts";
import { visibleVariables } from "../source/variables.ts";
import { assemblyPlace } from "../view/lane-place.ts";
import { matricesAt, type MatrixView } from "../view/fragments.ts";
import { describeAddress } from "../view/memory-view.ts";
import { type InFlight, inFlight, inFlightText, issuedBy, issuersText } from "../view/copies.ts";
import { mbarriersOf, mbarrierText, type MbarrierView } from "../view/mbarriers.ts";
import { liveRegisters } from "../view/liveness.ts";
import { lanesTable, lanesText } from "../view/tables.ts";
import { formatFirst, formatValue, sizeOf, type TypedBits } from "../view/value.ts";
import { type ModuleVariable, moduleVariables } from "../view/names.ts";
import { specialRegisters } from "../view/special-registers.ts";
import { typedBits, type Variable } from "../view/variables.ts";

/** A row in an editor's list of variables. */
export interface VariableRow {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
  /** The expression that stands for it. */
  readonly evaluateName?: string;
  readonly memoryReference?: string;
  /** Returns the parts it consists of. */
  readonly children?: () => readonly VariableRow[];
}

export interface ScopeRow {
  readonly name: string;
  readonly hint?: "registers" | "locals" | "arguments";
  readonly expensive: boolean;
  readonly rows: () => readonly VariableRow[];
}

const hex = (address: bigint): string => `0x${address.toString(16)}`;

function registerRows({ scope, view: { frame, warp } }: Session): VariableRow[] {
  if (frame === null || warp === null) return [];
  const { activation, site } = frame;
  const live = liveRegisters(activation.code.ir, site.index);
  const { registers: all } = scope.names;
  const ordered = [...all.filter((r) => live.has(r.register)), ...all.filter((r) => !live.has(r.register))];
  const text = (r: Variable, lane: number): string =>
    formatValue({ bytes: r.read({ grid: scope.grid, activation, lane }), type: r.type });
  return ordered.map((r) => ({
    name: r.name,
    value: text(r, scope.lane),
    type: r.type,
    evaluateName: r.name,
    children: () =>
      Array.from({ length: 32 }, (_, i) => i)
        .filter((i) => ((warp.lanes >>> i) & 1) !== 0)
        .map((i) => ({ name: `lane ${i}`, value: text(r, i), type: r.type })),
  }));
}

const maxChildren = 64;
const maxElements = 256;

function byteRow(v: Variable, scope: Scope): VariableRow {
  const { name } = v;
  const bits = typedBits(v, scope);
  const { bytes, type: words } = bits;
  const address = v.address(scope);
  const size = sizeOf(words) ?? 1;
  const count = Math.floor(bytes.length / size);
  return {
    name,
    value: formatFirst(bits),
    type: count > 1 ? `${words}[${count}]` : words,
    evaluateName: name,
    ...(address === null ? {} : { memoryReference: hex(address) }),
    ...(count <= 1
      ? {}
      : {
          children: () =>
            Array.from({ length: Math.min(count, maxChildren) }, (_, i) => ({
              name: `[${i}]`,
              value: formatValue({ bytes: bytes.slice(i * size, (i + 1) * size), type: words }),
              type: words,
              evaluateName: `${name}[${i}]`,
            })),
        }),
  };
}

function laneRows(session: Session): VariableRow[] {
  const { warp } = session.view;
  if (warp === null) return [];
  return lanesTable(warp, session.moment).map(({ mask, state, why, site }) => ({
    name: `lanes ${lanesText(mask)}`,
    value:
      (site === null ? state : `${state}, ${displayName(site.code.ir.name)}:${assemblyPlace(site).line}`) +
      (why === null ? "" : `, waits for ${why}`),
  }));
}

/** Returns what an editor shows about the function in focus. */
export function scopesOf(session: Session): readonly ScopeRow[] {
  return [...sourceScopes(session), ...assemblyScopes(session)];
}

/** The variables of the source, if debug information describes the function. */
function sourceScopes(session: Session): ScopeRow[] {
  const { frame } = session.view;
  if (frame === null || debugOf(frame.site.code.ir).kind === "unknown") return [];
  const { scope } = session;
  const rows = (isParameter: boolean) => (): readonly VariableRow[] =>
    visibleVariables(scope)
      .filter(({ variable }) => variable.isParameter === isParameter)
      .map(({ variable: { name, line }, variable }, i, all) => {
        const hidden = all.slice(0, i).some((other) => other.variable.name === name);
        return sourceRow(hidden ? `${name} (line ${line})` : name, valueAt(variable, scope), hidden ? null : name);
      });
  return [
    { name: "Locals", hint: "locals", expensive: false, rows: rows(false) },
    { name: "Arguments", hint: "arguments", expensive: false, rows: rows(true) },
    { name: "threadIdx, blockIdx, ...", expensive: false, rows: () => builtinRows(scope) },
  ];
}

const builtinRows = (scope: Scope): readonly VariableRow[] =>
  builtinNames.flatMap((name) => {
    const value = builtinValue(name, scope);
    return value === null ? [] : [sourceRow(name, value, name)];
  });

/** A variable of the source; `expression` stands for it, unless it is hidden by another one of the name. */
function sourceRow(name: string, value: SourceValue, expression: string | null): VariableRow {
  const shown = value.referred;
  const { address } = shown;
  const children = partsOf(shown, expression);
  return {
    name,
    value: shortText(value),
    type: typeName(value.type),
    ...(expression === null ? {} : { evaluateName: expression }),
    ...(address === null ? {} : { memoryReference: hex(address) }),
    ...(children === null ? {} : { children }),
  };
}

/** The members of a struct, the elements of an array, or what a pointer points to; null if there are none. */
function partsOf(value: SourceValue, expression: string | null): (() => readonly VariableRow[]) | null {
  const { plain } = value;
  const within = (text: string): string | null => (expression === null ? null : text);
  if (plain.kind === "struct") {
    return () =>
      plain.members().map((member) => {
        const direct = !member.isBase && member.name !== "";
        const name = member.isBase ? typeName(member.type) : member.name || "(anonymous)";
        const path = direct ? within(`${expression}.${member.name}`) : expression;
        return sourceRow(name, value.member(member), path);
      });
  }
  if (plain.kind === "array") {
    return () =>
      Array.from({ length: Math.min(plain.count ?? 0, maxElements) }, (_, i) =>
        sourceRow(`[${i}]`, value.element(BigInt(i))!, within(`${expression}[${i}]`)),
      );
  }
  const target = plain.kind === "pointer" ? value.target() : null;
  if (target === null || target.plain.kind === "void" || target.plain.kind === "function") return null;
  const pointed = within(`(*${expression})`);
  return target.plain.kind === "struct"
    ? partsOf(target, pointed)
    : () => [sourceRow(`*${expression ?? ""}`, target, pointed)];
}

/** The state of the machine's units, with a scope for each unit that the program uses. */
function machineScopes(session: Session): ScopeRow[] {
  const { warp, frame } = session.view;
  if (warp === null || frame === null) return [];
  const matrices = matricesAt(frame.activation, frame.site.index);
  const mbarriers = mbarriersOf(warp.cta);
  const pending = inFlight(warp.cta);
  const scope = (name: string, rows: () => readonly VariableRow[]): ScopeRow => ({ name, expensive: true, rows });
  return [
    ...(matrices.length === 0
      ? []
      : [scope("Matrices of the next instruction", () => matrices.map((one) => matrixRow(one)))]),
    ...(mbarriers.length === 0
      ? []
      : [scope("Mbarriers of the block", () => mbarriers.map((one) => mbarrierRow(session.scope, one)))]),
    ...(pending.length === 0
      ? []
      : [scope("Copies in flight", () => pending.map((one) => inFlightRow(session.scope, one)))]),
  ];
}

function matrixRow({ name, format, registers, rows, columns, count, cells }: MatrixView): VariableRow {
  const row = (at: number): string => `{${cells.slice(at * columns, (at + 1) * columns).join(", ")}}`;
  return {
    name,
    value: `${count > 1 ? `${count} of ` : ""}${rows}x${columns} in ${registers.join(" ")}`,
    type: format,
    children: () => Array.from({ length: rows * count }, (_, i) => ({ name: `row ${i}`, value: row(i), type: format })),
  };
}

function inFlightRow(scope: Scope, one: InFlight): VariableRow {
  const { opcode, line } = issuedBy(one);
  return {
    name: `line ${line}, ${issuersText(one)}`,
    value: inFlightText(one, (address) => describeAddress(scope, address)),
    type: opcode,
    ...(one.copy === null ? {} : { memoryReference: hex(one.copy.to) }),
  };
}

function mbarrierRow(scope: Scope, one: MbarrierView): VariableRow {
  const address = BigInt(one.address);
  return {
    name: describeAddress(scope, address),
    value: mbarrierText(one),
    type: "mbarrier",
    memoryReference: hex(address),
  };
}

function assemblyScopes(session: Session): ScopeRow[] {
  const { scope } = session;
  const { visa, frame, parameters } = scope.names;
  const variables = [...visa, ...frame];
  const ofModule = moduleVariables(session.execution);
  return [
    { name: "Registers", hint: "registers", expensive: false, rows: () => registerRows(session) },
    ...(variables.length === 0
      ? []
      : [
          {
            name: "Variables",
            hint: "locals" as const,
            expensive: false,
            rows: () => variables.map((v) => byteRow(v, scope)),
          },
        ]),
    {
      name: "Parameters of the kernel",
      hint: "arguments",
      expensive: false,
      rows: () => parameters.map((v) => byteRow(v, scope)),
    },
    { name: "Special registers", expensive: true, rows: () => specialRows(scope) },
    ...machineScopes(session),
    { name: "Lanes of the warp", expensive: true, rows: () => laneRows(session) },
    ...(ofModule.length === 0
      ? []
      : [{ name: "Variables of the module", expensive: true, rows: () => ofModule.map((v) => moduleRow(scope, v)) }]),
  ];
}

const specialRows = (scope: Scope): VariableRow[] =>
  specialRegisters.flatMap((name) => {
    const value = scope.names.special(name)?.(scope);
    return value === undefined ? [] : [{ name, value: String(value), type: "u32", evaluateName: name }];
  });

const shownBytes = 64;

function moduleRow(scope: Scope, v: ModuleVariable): VariableRow {
  const words = Math.min(v.size, shownBytes) >> 2;
  const values = Array.from({ length: words }, (_, i) => scope.memory(v.address + BigInt(4 * i), "u32"));
  const text = values.some((value) => value === null)
    ? "not here"
    : `{${values.map((value) => formatValue(value!)).join(", ")}${v.size > shownBytes ? ", …" : ""}}`;
  return { name: v.name, value: text, type: `${v.space}, ${v.size} bytes`, memoryReference: hex(v.address) };
}

/** Returns the value of an expression as a row. Throws an ExpressionError if it has none. */
export function expressionRow(session: Session, text: string): VariableRow {
  const typed = session.inspect(text);
  if (typed !== null) return { ...sourceRow(text, typed, text), value: sourceText(typed) };
  const expression = parseExpression(text);
  const { scope } = session;
  const bits: TypedBits = evaluate(expression, scope);
  const { root } = expression;
  const variable = root.kind === "name" && root.type === null ? scope.names.variable(root.name) : null;
  if (variable !== null && variable.kind !== "register") return { ...byteRow(variable, scope), name: text };
  const isAddress = root.kind === "memory" || (bits.bytes.length === 8 && bits.type !== "f64");
  const reference = isAddress ? { memoryReference: hex(BigInt.asUintN(64, addressOf(expression, scope).address)) } : {};
  return { name: text, value: formatValue(bits), type: bits.type, ...reference };
}
