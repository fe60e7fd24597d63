import { plainSampler, type Sampler } from "../../machine/images/sampler.ts";
import type { AddressMode } from "../../numeric/texture-coordinates.ts";

const modes: Readonly<Record<string, AddressMode>> = {
  ...{ wrap: "wrap", mirror: "mirror", clamp_ogl: "clamp", clamp_to_edge: "clamp", clamp_to_border: "border" },
};

/** The sampler that a `.samplerref` variable declares (section 5.3.2). Fields that it leaves out are those of none. */
export function declaredSampler(fields: ReadonlyMap<string, string>): Sampler {
  const mode = (axis: number): AddressMode => modes[fields.get(`addr_mode_${axis}`) ?? ""] ?? "clamp";
  return {
    ...plainSampler,
    address: [mode(0), mode(1), mode(2)],
    filter: fields.get("filter_mode") === "linear" ? "linear" : "point",
    normalized: (fields.get("force_unnormalized_coords") ?? "0") === "0",
  };
}
