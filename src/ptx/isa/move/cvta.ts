import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { isInSpace, spaceGates, spaces, window } from "./windows.ts";

const size = ["u32", "u64"] as const;
const operands = { p: "size", a: "size" } as const;

/** The difference between a generic address and the address in a window, with the type of the address. */
const offset = (k: Kit, a: Expr): Expr => (a.ty === "i32" ? k.wrap(window) : window);

/** Section 9.7.9.20. */
export const cvta = instruction("cvta", {
  summary: "converts an address in a state space to a generic address, or back",
  section: "9.7.9.20",
  forms: [
    form("cvta.space.size p, a", {
      where: { space: spaces, size },
      since: "2.0",
      target: "sm_20",
      gates: spaceGates,
      operands,
      sem: (k, { a }, { space }) => (space === "global" ? a : k.add(a, offset(k, a))),
    }),
    form("cvta.to.space.size p, a", {
      where: { space: spaces, size },
      since: "2.0",
      target: "sm_20",
      gates: spaceGates,
      operands: { p: "size", a: "reg size" },
      sem: (k, { a }, { space }) => (space === "global" ? a : k.sub(a, offset(k, a))),
    }),
  ],
});

/** Section 9.7.9.19. */
export const isspacep = instruction("isspacep", {
  summary: "tells whether a generic address is in a state space",
  section: "9.7.9.19",
  forms: [
    form("isspacep.space p, a", {
      where: { space: spaces },
      since: "2.0",
      target: "sm_20",
      gates: spaceGates,
      operands: { p: "pred", a: "u32" },
      sem: (k, { a }, { space }, ops) => isInSpace(k, k.widen(a, false), space, ops.sm),
    }),
    form("isspacep.space p, a", {
      where: { space: spaces },
      since: "2.0",
      target: "sm_20",
      gates: spaceGates,
      operands: { p: "pred", a: "u64" },
      sem: (k, { a }, { space }, ops) => isInSpace(k, a, space, ops.sm),
    }),
  ],
});
