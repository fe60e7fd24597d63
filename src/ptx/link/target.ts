import type { Span } from "../../source/index.ts";
import type { CheckedModule } from "../check/check.ts";
import type { Target } from "../check/target.ts";
import type { TargetDirective } from "../tree/module.ts";

const generation = (target: Target): number => Math.floor(target.sm / 10);

/**
 * The lowest target that runs code for both (11.1.2), or null if there is none. sm_90a code runs on that architecture
 * only, sm_100f code on its family from its own number on, other code on all later targets.
 */
export function commonTarget(a: Target, b: Target): Target | null {
  const [low, high] = a.sm <= b.sm ? [a, b] : [b, a];
  if (low.sm === high.sm) return specificity[low.variant] > specificity[high.variant] ? low : high;
  if (low.variant === "") return high;
  if (low.variant === "a" || generation(low) !== generation(high)) return null;
  return high.variant === "" ? { name: `${high.name}f`, sm: high.sm, variant: "f" } : high;
}

const specificity: Readonly<Record<Target["variant"], number>> = { "": 0, f: 1, a: 2 };

const targetDirective = ({ module }: CheckedModule): TargetDirective | undefined =>
  module.items.find((item) => item.kind === "target");

/** The span where a module names its target. */
export const targetSpan = (module: CheckedModule): Span => targetDirective(module)?.names[0] ?? { start: 0, end: 0 };

/** Whether textures and samplers are separate objects in a module (5.3), which changes what its instructions mean. */
export const separatesSamplers = (module: CheckedModule): boolean =>
  targetDirective(module)?.names.some((name) => name.text === "texmode_independent") ?? false;
