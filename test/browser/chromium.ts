import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The browser of this machine, or null: tests download none. `CHROMIUM` names one elsewhere. */
export function findChromium(): string | null {
  const { CHROMIUM, PATH = "" } = process.env;
  if (CHROMIUM !== undefined) return CHROMIUM;
  const places = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return places.find((path) => existsSync(path)) ?? null;
}
