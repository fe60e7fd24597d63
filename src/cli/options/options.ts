import { UsageError } from "../../runtime/data/errors.ts";
import { nearest } from "../../source/index.ts";
import { beside } from "../terminal/wrap.ts";

/** One option of the command line. */
export interface OptionSpec {
  readonly name: string;
  /** A one-letter form, as in `-o`. */
  readonly short?: string;
  /** The name of its value in the help. An option without one is a flag. */
  readonly value?: string;
  /** Whether it may be given several times. */
  readonly repeats?: boolean;
  /** What is done with the file that its value names. */
  readonly file?: "read" | "written";
  /** Matches the file's name within the value, as its only group. Default: the whole value. */
  readonly fileIn?: RegExp;
  /** The path of a second file written along with the one that the value names. */
  readonly alsoWritten?: (path: string) => string;
  /** Whether the path may also be that of a folder, into which files are written. */
  readonly orFolder?: boolean;
  readonly help: string;
}

export const commonOptions = [
  { name: "json", help: "print one JSON document on stdout, prose goes to stderr" },
  {
    name: "engine",
    value: "NAME",
    help: "interpreter, jit, native, or tiered: jit, and native for what runs for long (default: tiered, bench jit)",
  },
  { name: "threads", value: "N", help: "jit: host threads to use (default: run all, bench 1)" },
  {
    name: "cache",
    value: "DIR",
    help: "jit: keep compiled kernels in this folder (default: $LANEWISE_CACHE, or the user's caches)",
  },
  { name: "no-cache", help: "jit: neither use nor keep compiled kernels" },
  {
    name: "sanitize",
    value: "LIST",
    help: "all, none, or some of call,memory,init,race,sync (memcheck, racecheck, initcheck and synccheck are known too)",
  },
  { name: "seed", value: "N", help: "permute the schedule; the same seed gives the same run" },
  {
    name: "matrix",
    value: "SUMS",
    help: "how products of matrices are summed: hardware (default), or exact: rounded once",
  },
  { name: "timeout", value: "SECONDS", help: "end a launch that runs longer" },
  { name: "max-steps", value: "N", help: "end a launch after so many thread-instructions" },
  { name: "target", value: "NAME", help: "check for this target (PTX: sm_NN) or platform (vISA: skl, dg2, pvc, ...)" },
  {
    name: "source-path",
    value: "DIR",
    repeats: true,
    help: "also look here for the source that a program was compiled from (nvcc -lineinfo or -G)",
  },
  { name: "color", value: "WHEN", help: "auto, always or never" },
  { name: "help", short: "h", help: "show this help" },
  { name: "version", short: "V", help: "show the version" },
] as const satisfies readonly OptionSpec[];

export type CommonOption = (typeof commonOptions)[number]["name"];

/** The common options of every command that launches kernels. */
export const kernelOptions = [
  "sanitize",
  "seed",
  "matrix",
  "max-steps",
  "source-path",
] as const satisfies readonly CommonOption[];

/** Those of a command that launches them in any engine. */
export const engineOptions = [
  "engine",
  "threads",
  "cache",
  "no-cache",
  "timeout",
  ...kernelOptions,
] as const satisfies readonly CommonOption[];

/** The parsed words after the command's name. */
export class Options {
  readonly positionals: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(positionals: readonly string[], values: ReadonlyMap<string, readonly string[]>) {
    this.positionals = positionals;
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  value(name: string): string | null {
    return this.all(name).at(-1) ?? null;
  }

  oneOf<const T extends string>(name: string, choices: readonly T[]): T | null {
    const value = this.value(name);
    if (value === null) return null;
    if ((choices as readonly string[]).includes(value)) return value as T;
    throw new UsageError(`--${name} ${value}: expected ${alternatives(choices)}`);
  }

  /** `--target`: a target of PTX ("sm_90", "sm_100a") or a platform of vISA ("skl"). */
  get target(): string | null {
    return this.value("target");
  }

  integer(name: string, min = 0): number | null {
    const value = this.value(name);
    if (value === null) return null;
    const number = value.trim() === "" ? NaN : Number(value);
    if (Number.isSafeInteger(number) && number >= min) return number;
    throw new UsageError(`--${name} ${value}: expected an integer of at least ${min}`);
  }

  /** `--timeout` in milliseconds; it is given in seconds. */
  get timeoutMs(): number | null {
    const value = this.value("timeout");
    if (value === null) return null;
    const seconds = value.trim() === "" ? NaN : Number(value);
    if (Number.isFinite(seconds) && seconds >= 0) return 1000 * seconds;
    throw new UsageError(`--timeout ${value}: expected a number of seconds, as in 1.5`);
  }
}

/** "a, b or c". */
const alternatives = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/**
 * Parses the words of a command line. An option that takes a value always takes the next word (`--arg -1` has the value
 * -1), or what follows `=`. Everything after `--` is a positional, and if `passesOn`, everything after the first
 * positional.
 *
 * @throws UsageError for unknown options, suggesting the one that was probably meant
 */
export function parseOptions(words: readonly string[], known: readonly OptionSpec[], passesOn = false): Options {
  const positionals: string[] = [];
  const values = new Map<string, string[]>();
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === "--") {
      positionals.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      if (passesOn) {
        positionals.push(...words.slice(i));
        break;
      }
      positionals.push(word);
      continue;
    }
    const [, name = "", attached] = /^--?([^=]*)(?:=([\s\S]*))?$/.exec(word)!;
    const spec = known.find((o) => (word.startsWith("--") ? o.name === name : o.short === name));
    if (!spec) throw unknownOption(word.startsWith("--") ? `--${name}` : `-${name}`, name, known);
    if (spec.value === undefined && attached !== undefined) throw new UsageError(`--${spec.name} takes no value`);
    const value = spec.value === undefined ? "" : (attached ?? words[++i]);
    if (value === undefined) throw new UsageError(`${word} needs a value: ${spec.value}`);
    const list = values.get(spec.name);
    if (list && !spec.repeats && spec.value !== undefined) throw new UsageError(`--${spec.name} is given twice`);
    values.set(spec.name, [...(list ?? []), value]);
  }
  return new Options(positionals, values);
}

/** Options of compute-sanitizer, cuda-gdb, Nsight and CUDA itself for the same. */
const otherTools: Readonly<Record<string, string>> = {
  tool: "sanitize",
  "kernel-name": "kernel",
  entry: "kernel",
  function: "kernel",
  args: "arg",
  blocks: "grid",
  griddim: "grid",
  gridDim: "grid",
  blockdim: "block",
  blockDim: "block",
  "block-size": "block",
  "grid-size": "grid",
  "shared-mem": "shared",
  smem: "shared",
  arch: "target",
  gpu: "target",
  output: "out",
};

function unknownOption(word: string, name: string, known: readonly OptionSpec[]): UsageError {
  const names = known.map((o) => o.name);
  const same = Object.hasOwn(otherTools, name) ? otherTools[name]! : null;
  const meant = same !== null && names.includes(same) ? same : nearest(name, names);
  return new UsageError(`there is no option ${word}${meant ? `; --${meant} exists` : ""}`);
}

/** "-o, --output FILE" */
export const optionHead = ({ name, short, value }: OptionSpec): string =>
  `${short ? `-${short}, ` : ""}--${name}${value === undefined ? "" : ` ${value}`}`;

/** Describes options in two columns, at most `columns` characters wide in all. */
export function describeOptions(options: readonly OptionSpec[], columns: number): string {
  const heads = options.map(optionHead);
  const width = Math.max(...heads.map((head) => head.length));
  return options.map((o, i) => beside(heads[i]!, { text: o.help, at: width + 4, columns })).join("\n");
}
