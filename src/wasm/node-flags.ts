/**
 * V8 in Node 20 has these features only behind flags. Neither flag changes the meaning of a module that could be
 * compiled before. Later versions need no flag for relaxed SIMD, and from Node 26 on none for branch hints. In between,
 * flags are left alone: V8 discards compiled code that programs have stored if its flags differ.
 */
const flagsOfNode20 = ["--experimental-wasm-relaxed-simd", "--experimental-wasm-branch-hinting"];

/** Makes V8 accept relaxed SIMD and branch hints on Node 20. */
export function enableFeaturesOfNode20(): void {
  const { process } = globalThis as {
    process?: {
      versions?: { node?: string };
      getBuiltinModule?: (name: string) => { setFlagsFromString(flag: string): void } | undefined;
    };
  };
  if (Number.parseInt(process?.versions?.node ?? "", 10) !== 20) return;
  const v8 = process?.getBuiltinModule?.("node:v8");
  for (const flag of flagsOfNode20) v8?.setFlagsFromString(flag);
}
