/**
 * V8 in Node 20 has these features only behind flags. Neither flag changes the meaning of a module that could be
 * compiled before. Later versions need no flag for relaxed SIMD, and from Node 26 on none for branch hints. In between,
 * flags are left alone: V8 discards compiled code that programs have stored if its flags differ.
 */
const flagsOfNode20 = ["--experimental-wasm-relaxed-simd", "--experimental-wasm-branch-hinting"];

/** Node's interface to V8. */
export interface V8Interface {
  setFlagsFromString(flag: string): void;
  cachedDataVersionTag(): number;
}

/** The part of Node that has to do with V8. */
interface HostProcess {
  readonly execArgv?: readonly string[];
  readonly versions?: { readonly node?: string; readonly v8?: string };
  readonly getBuiltinModule?: (name: "node:v8") => V8Interface | undefined;
}

/** The process of Node; undefined in other hosts. */
export const hostProcess = (): HostProcess | undefined => (globalThis as { process?: HostProcess }).process;

/** Makes V8 accept relaxed SIMD and branch hints on Node 20. */
export function enableFeaturesOfNode20(): void {
  const process = hostProcess();
  if (Number.parseInt(process?.versions?.node ?? "", 10) !== 20) return;
  const v8 = process?.getBuiltinModule?.("node:v8");
  for (const flag of flagsOfNode20) v8?.setFlagsFromString(flag);
}

/** Tells V8, its flags and the processor's features from others; null where the host is not Node. */
export function engineTag(): string | null {
  const tag = hostProcess()?.getBuiltinModule?.("node:v8")?.cachedDataVersionTag();
  return tag === undefined ? null : `V8 ${tag}`;
}
