import { demangle } from "./demangle.ts";

/** The most characters of a name among other words. Names of libraries of templates are longer than a page. */
const comfortable = 120;

/** A name without what stands between brackets: `f<...>`. */
function withoutArguments(name: string): string {
  let all = "";
  let depth = 0;
  let from = 0;
  for (let i = 0; i < name.length; i++) {
    // The brackets of operator<, operator->, operator() and so on are none.
    if (name.startsWith("operator", i) && !/\w/.test(name[i - 1] ?? ""))
      i += /^operator *[^\w\s]*/.exec(name.slice(i, i + 16))![0].length;
    const c = name[i];
    if (c === "<" && depth++ === 0) all += `${name.slice(from, i)}<...>`;
    else if (c === ">" && depth > 0 && --depth === 0) from = i + 1;
  }
  return depth === 0 ? all + name.slice(from) : name;
}

/** The whole name of a function or variable in its source, without its result: `scale<float>(float*, float, int)`. */
export const signatureOf = (name: string): string => demangle(name)?.signature ?? name;

/** A variable that a function declares: Lanewise names the function before it, which its own name in C++ does too. */
const ownVariable = /^_Z[\w$]+\.(_ZZ[\w$]+)$/;

/** A name as people read it: its signature, or less of it where that is very long. */
export function displayName(name: string): string {
  const found = demangle(ownVariable.exec(name)?.[1] ?? name);
  if (found === null) return name;
  const { signature, name: alone, parameters } = found;
  if (signature.length <= comfortable) return signature;
  if (alone.length <= comfortable) return alone;
  const short = withoutArguments(alone);
  if (short.length <= comfortable || parameters !== null) return short.length <= 2 * comfortable ? short : cut(short);
  return cut(short);
}

const cut = (name: string): string => (name.length <= 2 * comfortable ? name : `${name.slice(0, 2 * comfortable)}...`);

/** Prose in which mangled names are replaced by what people read. */
export const readable = (prose: string): string =>
  prose.includes("_Z") ? prose.replace(/(?<![\w$.])_Z[\w$]+(?:\.[A-Za-z_][\w$.]*)?/g, inProse) : prose;

/** A parameter of a kernel has the kernel's name and a number: `_Z1fPi_param_0`. */
function inProse(name: string): string {
  const [, owner, index] = /^(.*)_param_(\d+)$/.exec(name) ?? [];
  return owner !== undefined && demangle(owner) !== null
    ? `parameter ${index} of ${displayName(owner)}`
    : displayName(name);
}
