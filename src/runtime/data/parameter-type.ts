import { cTypes } from "./c-types.ts";
import { demangle } from "../../names/index.ts";
import { elementInfo, type ElementType } from "./element.ts";

/** The type of a parameter in C++, as far as it says what may be given for it. */
export interface ParameterType {
  /** As C++ writes it: `float const*`. */
  readonly text: string;
  readonly kind: "pointer" | "scalar" | "other";
  /** The elements that the pointer points to, or the scalar; null if it may be anything. */
  readonly element: ElementType | null;
}

const scalars: Readonly<Record<string, ElementType>> = {
  bool: "u8",
  char: "s8",
  "signed char": "s8",
  "unsigned char": "u8",
  short: "s16",
  "unsigned short": "u16",
  char16_t: "u16",
  int: "s32",
  "unsigned int": "u32",
  wchar_t: "s32",
  char32_t: "u32",
  long: "s64",
  "unsigned long": "u64",
  "long long": "s64",
  "unsigned long long": "u64",
  float: "f32",
  double: "f64",
  half: "f16",
  _Float16: "f16",
  __half: "f16",
  __nv_bfloat16: "bf16",
  __bf16: "bf16",
  "std::bfloat16_t": "bf16",
};

/** The vector types of CUDA, whose elements these are. */
const vectors: Readonly<Record<string, ElementType>> = { ...cTypes, longlong: "s64", ulonglong: "u64" };

/** The name of an element type in C. */
export const cName = (type: ElementType): string =>
  Object.entries(scalars).find(([, known]) => known === type)?.[0] ?? type;

function elementOf(type: string): ElementType | null {
  const scalar = scalars[type];
  if (scalar !== undefined) return scalar;
  if (type === "__half2") return "f16";
  if (type === "__nv_bfloat162") return "bf16";
  const name = /^([a-z]+)[1-4](?:_(?:16|32)a)?$/.exec(type)?.[1];
  return name === undefined ? null : (vectors[name] ?? null);
}

/** Reads a type of C++ as a demangled name has it. */
export function parameterType(text: string): ParameterType {
  const plain = text.replace(/ (const|volatile|restrict)\b/g, "").trim();
  if (!plain.endsWith("*")) return { text, kind: scalars[plain] ? "scalar" : "other", element: scalars[plain] ?? null };
  const element = elementOf(plain.slice(0, -1).trim());
  // Bytes and characters may be the bytes of anything.
  return { text, kind: "pointer", element: element !== null && elementInfo[element].size > 1 ? element : null };
}

/** The types of a kernel's parameters, if its name says them and they have these sizes; else null. */
export function parameterTypes(kernel: string, sizes: readonly number[]): readonly ParameterType[] | null {
  const { parameters = null } = demangle(kernel) ?? {};
  if (parameters === null || parameters.length !== sizes.length) return null;
  const types = parameters.map(parameterType);
  const fits = types.every(({ kind, element }, i) => {
    if (kind === "pointer") return sizes[i] === 8 || sizes[i] === 4;
    return kind === "other" || elementInfo[element!].size === sizes[i];
  });
  return fits ? types : null;
}

/**
 * Says why a buffer of such elements is not what a parameter points to, or returns null. Bytes are taken for anything,
 * integers for those of the other sign, and 16-bit integers for the bits of 16-bit floats.
 */
export function bufferMisfit(given: ElementType, { kind, element, text }: ParameterType): string | null {
  if (kind !== "pointer" || element === null || given === element) return null;
  const [from, to] = [elementInfo[given], elementInfo[element]];
  if (from.size === 1) return null;
  if (from.size === to.size) {
    if (from.kind !== "float" && (to.kind !== "float" || to.size === 2)) return null;
  }
  return `a buffer of ${given} is given for \`${text}\`, which points to ${element}`;
}
