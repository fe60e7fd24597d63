import { slmBits, windows } from "../../ir/index.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";

/*
 * What is different where work items of vISA run without the hardware thread around them, and an access is looked up.
 */

/** The lane to which a fault belongs where an instruction is one lane's for the whole hardware thread; else null. */
export const oneLaneOf = ({ instruction: { lanes } }: Site): number | null =>
  lanes?.noMask === true && lanes.count === 1 ? lanes.first : null;

/** The address in shared local memory that the hardware decodes. */
export const inSlm = ({ low }: AddressParts): AddressParts => ({
  low: windows.shared.start + ((low - windows.shared.start) & slmBits),
  high: 0,
});
