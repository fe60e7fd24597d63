import { expect, test } from "vitest";
import { plainSampler, type Sampler } from "../../../src/machine/images/sampler.ts";
import { attributeOf } from "../../../src/runtime/visa/image-arguments.ts";

// cl.h numbers addressing modes: CL_ADDRESS_CLAMP_TO_EDGE is 0x1131, CLAMP 0x1132, REPEAT 0x1133, MIRRORED_REPEAT
// 0x1134. Intel's driver (NEO, `Sampler::getSnapWaValue`) sets all bits for CL_FILTER_NEAREST with CL_ADDRESS_CLAMP:
// the kernel itself then rounds coordinates down, since the hardware takes those just below 0 for texel 0.
test.each([
  ["clamp", "point", true, [0x1131, 1, 0]],
  ["border", "point", true, [0x1132, 1, 0xffff_ffff]],
  ["border", "point", false, [0x1132, 0, 0xffff_ffff]],
  ["border", "linear", true, [0x1132, 1, 0]],
  ["wrap", "point", true, [0x1133, 1, 0]],
  ["mirror", "linear", true, [0x1134, 1, 0]],
] as const)("what a kernel is told of a sampler: %s, %s, normalized %s", (mode, filter, normalized, wanted) => {
  const sampler: Sampler = { ...plainSampler, address: [mode, mode, mode], filter, normalized };
  const told = ["sampler_address", "sampler_normalized", "sampler_snap_wa"].map((item) =>
    attributeOf(item, { kind: "sampler", sampler }),
  );
  expect(told).toEqual(wanted);
});
