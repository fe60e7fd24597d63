import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

interface TourStep {
  readonly text: string;
  readonly view?: string;
  readonly file?: string;
  readonly lines?: readonly string[];
  readonly act?: string;
  readonly at?: { readonly line: string; readonly hit?: number; readonly lane?: number };
}

export interface GalleryExample {
  readonly id: string;
  readonly title: string;
  readonly isa: string;
  readonly job: string;
  readonly jobText: string;
  /** The files of the program, the first one first. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly tour: readonly TourStep[];
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Index {
  readonly chapters: readonly {
    readonly examples: readonly Pick<GalleryExample, "id" | "title" | "isa" | "job">[];
  }[];
}

interface JobText {
  readonly variants: Readonly<Record<string, readonly string[] | { readonly modules: readonly string[] }>>;
}

/** The examples of the playground, in their order, with all that belongs to them. */
export const gallery: readonly GalleryExample[] = (
  JSON.parse(read("playground/gallery/index.json")) as Index
).chapters.flatMap(({ examples }) =>
  examples.map((example) => {
    const jobText = read(example.job);
    const variants = Object.values((JSON.parse(jobText) as JobText).variants);
    const paths = variants.flatMap((variant) => ("modules" in variant ? variant.modules : variant));
    const tour = `playground/gallery/${example.id}/tour.json`;
    return {
      ...example,
      jobText,
      files: paths.map((path) => ({ path, text: read(join(dirname(example.job), path)) })),
      tour: existsSync(join(root, tour)) ? (JSON.parse(read(tour)) as TourStep[]) : [],
    };
  }),
);

/** The number of the first line that contains a text, from 1; 0 if there is none. */
export const lineWith = (text: string, part: string): number =>
  text.split("\n").findIndex((line) => line.includes(part)) + 1;
