import { expect, test } from "vitest";
import { windows } from "../../src/ir/index.ts";
import { type AddressParts, AddressSpace, parts } from "../../src/machine/memory/address-space.ts";
import { instructionSet } from "../../src/ptx/isa/index.ts";
import { type Expr, fold, kit } from "../../src/semantics/index.ts";

const spaces = { shared: "shared", local: "local", const: "const", param: "kernel-param" } as const;

/**
 * The result of `isspacep` for an address in a module with addresses of `size` bits, for a target without clusters.
 */
function says(size: 32 | 64, space: string, address: bigint): boolean {
  const form = instructionSet
    .resolve(`isspacep.${space}`)
    .candidates.find((c) => c.operands[1]!.rule.type?.bits === size)!;
  const a = size === 32 ? kit.i32(Number(address)) : kit.i64(address);
  const result = form.form.sem!(kit, { a }, form.mods, { sm: 80 } as never) as Expr;
  return fold(result, () => new AddressSpace(size).window) as boolean;
}

/** Addresses at and around the bounds of every window and of global memory. */
const addresses = (size: 32 | 64): bigint[] => {
  const space = new AddressSpace(size);
  const ends = Object.values(windows).flatMap(({ start, end }) => [start, end].map((x) => space.window + BigInt(x)));
  const global = [space.global(0), space.global(size === 64 ? 0xffff_ffff : 0x7fff_ffff)];
  return [...ends, ...global, 0n].flatMap((x) => [x - 1n, x, x + 1n]).map((x) => BigInt.asUintN(size, x));
};

/** The state space that the machine assigns to a generic address. */
const found = (size: 32 | 64, address: AddressParts): string => new AddressSpace(size).classify(address).kind;

test.each([32, 64] as const)("isspacep agrees with the machine on %i-bit addresses", (size) => {
  for (const address of addresses(size)) {
    const kind = size === 64 && address >> 32n === 0n ? "unknown" : found(size, parts(address));
    const at = `0x${address.toString(16)}`;
    for (const [name, window] of Object.entries(spaces))
      expect([at, name, says(size, name, address)]).toEqual([at, name, kind === window]);
    const global = kind === "global" || kind === "kernel-param";
    expect([at, "global", says(size, "global", address)]).toEqual([at, "global", global]);
  }
});
