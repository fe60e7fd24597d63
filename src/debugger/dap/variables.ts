import { parseExpression } from "../expression/parse.ts";
import { addressOf, evaluate } from "../expression/evaluate.ts";
import type { Scope } from "../expression/scope.ts";
import type { FocusView } from "../focus.ts";
import type { Session } from "../session.ts";
import { assemblyPlace } from "../view/lane-place.ts";
import { liveRegisters } from "../view/liveness.ts";
import { lanesTable, lanesText } from "../view/tables.ts";
import { formatValue, sizeOf, type TypedBits } from "../view/value.ts";
import {
  type ByteVariable,
  fileVariables,
  frameVariables,
  kernelParameters,
  moduleVariables,
  readRegister,
  readSpecial,
  registersOf,
  specialRegisters,
} from "../view/variables.ts";

/** A line of an editor's list of variables. */
export interface VariableRow {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
  /** What stands for it in expressions. */
  readonly evaluateName?: string;
  readonly memoryReference?: string;
  /** What it consists of. */
  readonly children?: () => readonly VariableRow[];
}

export interface ScopeRow {
  readonly name: string;
  readonly hint?: "registers" | "locals" | "arguments";
  readonly expensive: boolean;
  readonly rows: () => readonly VariableRow[];
}

const hex = (address: bigint): string => `0x${address.toString(16)}`;

function registerRows(session: Session, { frame, warp }: FocusView): VariableRow[] {
  if (frame === null || warp === null) return [];
  const { activation, site } = frame;
  const { lane } = session.focus;
  const live = liveRegisters(activation.code.ir, site.index);
  const all = registersOf(activation.code.ir);
  const ordered = [...all.filter((r) => live.has(r.register)), ...all.filter((r) => !live.has(r.register))];
  const { execution } = session;
  return ordered.map((r) => ({
    name: r.name,
    value: formatValue(readRegister(execution, activation, r, lane)),
    type: r.type,
    evaluateName: r.name,
    children: () =>
      Array.from({ length: 32 }, (_, i) => i)
        .filter((i) => ((warp.lanes >>> i) & 1) !== 0)
        .map((i) => ({
          name: `lane ${i}`,
          value: formatValue(readRegister(execution, activation, r, i)),
          type: r.type,
        })),
  }));
}

const mostElements = 64;

function byteRow({ name, type, bytes, address }: ByteVariable): VariableRow {
  const words = type === "u8" && [2, 4, 8].includes(bytes.length) ? `b${8 * bytes.length}` : type;
  const size = sizeOf(words) ?? 1;
  const text = formatValue({ bytes: bytes.slice(0, size * 16), type: words });
  const count = Math.floor(bytes.length / size);
  return {
    name,
    value: count > 16 ? text.replace(/\}$/, ", …}") : text,
    type: count > 1 ? `${words}[${count}]` : words,
    evaluateName: name,
    ...(address === null ? {} : { memoryReference: hex(address) }),
    ...(count <= 1
      ? {}
      : {
          children: () =>
            Array.from({ length: Math.min(count, mostElements) }, (_, i) => ({
              name: `[${i}]`,
              value: formatValue({ bytes: bytes.slice(i * size, (i + 1) * size), type: words }),
              type: words,
              evaluateName: `${name}[${i}]`,
            })),
        }),
  };
}

function laneRows(session: Session, { warp }: FocusView): VariableRow[] {
  if (warp === null) return [];
  return lanesTable(warp, session.moment).map(({ mask, state, why, site }) => ({
    name: `lanes ${lanesText(mask)}`,
    value:
      (site === null ? state : `${state}, ${site.code.ir.name}:${assemblyPlace(site).line}`) +
      (why === null ? "" : `, waits for ${why}`),
  }));
}

/** What an editor shows of the function in focus. */
export function scopesOf(session: Session): readonly ScopeRow[] {
  const { view, execution, focus } = session;
  const x = view.frame?.activation ?? null;
  const variables = x === null ? [] : [...fileVariables(x), ...frameVariables(x, focus.lane)];
  const shared = moduleVariables(execution);
  return [
    { name: "Registers", hint: "registers", expensive: false, rows: () => registerRows(session, view) },
    ...(variables.length === 0
      ? []
      : [{ name: "Variables", hint: "locals" as const, expensive: false, rows: () => variables.map(byteRow) }]),
    {
      name: "Parameters of the kernel",
      hint: "arguments",
      expensive: false,
      rows: () => kernelParameters(execution).map(byteRow),
    },
    {
      name: "Special registers",
      expensive: true,
      rows: () =>
        x === null
          ? []
          : specialRegisters.map((name) => ({
              name,
              value: String(readSpecial(x, focus.lane, name)),
              type: "u32",
              evaluateName: name,
            })),
    },
    { name: "Lanes of the warp", expensive: true, rows: () => laneRows(session, view) },
    ...(shared.length === 0
      ? []
      : [
          {
            name: "Variables of the module",
            expensive: true,
            rows: () => shared.map((v) => moduleRow(session.scope, v)),
          },
        ]),
  ];
}

const shownBytes = 64;

function moduleRow(scope: Scope, v: ReturnType<typeof moduleVariables>[number]): VariableRow {
  const words = Math.min(v.size, shownBytes) >> 2;
  const values = Array.from({ length: words }, (_, i) => scope.memory(v.address + BigInt(4 * i), "u32"));
  const text = values.some((value) => value === null)
    ? "not here"
    : `{${values.map((value) => formatValue(value!)).join(", ")}${v.size > shownBytes ? ", …" : ""}}`;
  return { name: v.name, value: text, type: `${v.space}, ${v.size} bytes`, memoryReference: hex(v.address) };
}

/** The value of an expression as a line of its own. Throws an ExpressionError. */
export function expressionRow(session: Session, text: string): VariableRow {
  const expression = parseExpression(text);
  const { scope } = session;
  const bits: TypedBits = evaluate(expression, scope);
  const { root } = expression;
  const variable = root.kind === "name" ? scope.variable(root.name) : null;
  if (variable !== null && root.kind === "name" && root.type === null) return { ...byteRow(variable), name: text };
  const isAddress = root.kind === "memory" || (bits.bytes.length === 8 && bits.type !== "f64");
  const reference = isAddress ? { memoryReference: hex(BigInt.asUintN(64, addressOf(expression, scope).address)) } : {};
  return { name: text, value: formatValue(bits), type: bits.type, ...reference };
}
