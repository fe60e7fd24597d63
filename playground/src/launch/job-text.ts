/** The part of a job that the form edits, as JSON has it. Everything else is kept as it is. */
export interface JobJson {
  isa?: "ptx" | "visa";
  variants: Record<string, unknown>;
  buffers?: Record<string, BufferJson>;
  launches: LaunchJson[];
  [other: string]: unknown;
}

export interface BufferJson {
  type: string;
  n: number;
  init?: { gen: string; [parameter: string]: unknown };
  [other: string]: unknown;
}

export type ArgumentJson = Record<string, unknown>;

export interface LaunchJson {
  kernel?: string;
  grid?: number[];
  block?: number[];
  global?: number[];
  local?: number[];
  shared?: number;
  args?: ArgumentJson[];
  [other: string]: unknown;
}

/** Reads a job for the form; null if it is not one that a form can show. */
export function readJobJson(text: string): JobJson | null {
  try {
    const job = JSON.parse(text) as Partial<JobJson> | null;
    if (typeof job !== "object" || job === null || !Array.isArray(job.launches)) return null;
    return typeof job.variants === "object" ? (job as JobJson) : null;
  } catch {
    return null;
  }
}

const width = 100;

/** JSON as one writes it by hand: what fits in a line is in a line. */
export function writeJobJson(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null) return line;
  if (line.length + indent.length <= width && indent !== "") return spaced(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== "object")) return spaced(value);
    return `[\n${value.map((item) => inner + writeJobJson(item, inner)).join(",\n")}\n${indent}]`;
  }
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{\n${fields.map(([key, field]) => `${inner}${JSON.stringify(key)}: ${writeJobJson(field, inner)}`).join(",\n")}\n${indent}}`;
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}: ${spaced(field)}`).join(", ")}}`;
}
