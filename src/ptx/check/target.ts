/** The architecture that a module is compiled for (11.1.2). */
export interface Target {
  /** As in "sm_90a". */
  readonly name: string;
  /** The number: 90 for sm_90a. */
  readonly sm: number;
  /** Where the code runs: `a`, on this architecture only; `f`, on its family; `""`, on this one and all later ones. */
  readonly variant: "" | "a" | "f";
  /** Whether textures and samplers are one (by default), or variables of their own (5.3, 11.1.2). */
  readonly texturing?: "unified" | "independent";
}

/** The target of this name, such as "sm_90a". */
export function targetNamed(name: string, texturing: Target["texturing"] = "unified"): Target {
  const [, sm = "0", variant = ""] = /^sm_(\d+)([af]?)$/.exec(name) ?? [];
  return { name, sm: Number(sm), variant: variant as Target["variant"], texturing };
}
