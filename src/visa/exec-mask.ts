import type { ExecSize } from "./tree.ts";

/** A mask as text has it: M1, M2_NM. */
export const maskName = ({ offset, noMask }: Pick<ExecSize, "offset" | "noMask">): string =>
  `M${offset / 4 + 1}${noMask ? "_NM" : ""}`;
