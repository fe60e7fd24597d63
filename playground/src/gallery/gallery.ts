import type { PlayDocument } from "../document.ts";
import index from "../../gallery/index.json";

/** A step of a tour: what is said, and what is shown while it is. */
export interface TourStep {
  readonly text: string;
  /** The view that is opened. */
  readonly view?: string;
  /** The file that is opened; default: the first. */
  readonly file?: string;
  /** Lines that are marked: each by a part of its text, in the order of the file. */
  readonly lines?: readonly string[];
  /** What is done: unless the step says otherwise, what needs a run runs the program. */
  readonly act?: "run" | "sanitize" | "profile" | "explore";
  /** The time that is shown: the first step of the warp at a line, or the n-th one (from 1). */
  readonly at?: { readonly line: string; readonly hit?: number; readonly lane?: number };
}

export interface Example {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly isa: string;
  /** The job, in the repository. */
  readonly job: string;
}

export interface Chapter {
  readonly title: string;
  readonly examples: readonly Example[];
}

export const chapters: readonly Chapter[] = index.chapters;

export const examples: readonly Example[] = chapters.flatMap((chapter) => chapter.examples);

/** The example that follows another in the learning order; null after the last. */
export const exampleAfter = (id: string): Example | null =>
  examples[examples.findIndex((e) => e.id === id) + 1] ?? null;

const texts = import.meta.glob<string>(
  [
    "../../gallery/*/*",
    "!../../gallery/divergent-call/*",
    "../../../examples/seeds/*.{json,ptx}",
    "../../../examples/bugs/*.ptx",
    "../../../examples/two-functions/*.isaasm",
    "../../../examples/transpose.ptx",
  ],
  { query: "?raw", import: "default" },
);

/** The first example, which is there with the page. */
const first = import.meta.glob<string>(
  ["../../gallery/divergent-call/*", "../../../examples/two-functions/double-or-square.ptx"],
  { query: "?raw", import: "default", eager: true },
);

/** Loads a file by its path in the repository. */
async function load(path: string): Promise<string> {
  const kept = first[`../../../${path}`] ?? first[path.replace(/^playground\//, "../../")];
  if (kept !== undefined) return kept;
  const found = texts[`../../../${path}`] ?? texts[path.replace(/^playground\//, "../../")];
  if (found === undefined) throw new Error(`the gallery has no file ${path}`);
  return found();
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A path relative to a folder, without `..`. */
function resolve(folder: string, path: string): string {
  const parts = folder.split("/");
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}

/** Loads an example by its id; null if there is none. */
export async function loadExample(id: string): Promise<PlayDocument | null> {
  const example = examples.find((e) => e.id === id);
  if (example === undefined) return null;
  const job = await load(example.job);
  const { variants } = JSON.parse(job) as {
    variants: Record<string, readonly string[] | { modules: readonly string[] }>;
  };
  const paths = Object.values(variants).flatMap((variant) => ("modules" in variant ? variant.modules : variant));
  const folder = folderOf(example.job);
  const files = await Promise.all(
    paths.map(async (path) => ({ path: nameOf(path), text: await load(resolve(folder, path)), bytes: null })),
  );
  // In the page files have no folders.
  const text = paths.reduce((rest, path) => rest.replaceAll(`"${path}"`, `"${nameOf(path)}"`), job);
  return { title: example.title, example: id, job: text, files };
}

/** Loads the tour of an example. */
export const loadTour = async (id: string): Promise<readonly TourStep[]> =>
  JSON.parse(await load(`playground/gallery/${id}/tour.json`)) as TourStep[];
