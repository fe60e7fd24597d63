import type { Target } from "./context.ts";

/** The target of this name, such as "sm_90a". */
export function targetNamed(name: string): Target {
  const [, sm = "0", variant = ""] = /^sm_(\d+)([af]?)$/.exec(name) ?? [];
  return { name, sm: Number(sm), variant: variant as Target["variant"] };
}
