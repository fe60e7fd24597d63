import type { Gate } from "./row.ts";

/** The versions and platforms that have something, in a few words; null if all have it. */
export function gateText({ since, from, until, only }: Gate): string | null {
  const parts = [
    ...(since === undefined ? [] : [`vISA ${since} on`]),
    ...(from === undefined ? [] : [`platforms from ${from} on`]),
    ...(until === undefined ? [] : [`platforms before ${until}`]),
    ...(only === undefined ? [] : [`only ${only.join(", ")}`]),
  ];
  return parts.length === 0 ? null : parts.join("; ");
}
