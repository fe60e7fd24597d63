import type { PlayDocument } from "../document.ts";

const texts = import.meta.glob<string>(["../../gallery/*/*", "!../../gallery/*/*.md"], {
  query: "?raw",
  import: "default",
});

/** Loads an example by the name of its folder; null if there is none. */
export async function loadExample(name: string): Promise<PlayDocument | null> {
  const folder = `../../gallery/${name}/`;
  const entries = Object.entries(texts).filter(([path]) => path.startsWith(folder));
  const files = await Promise.all(
    entries.map(async ([path, load]) => ({ path: path.slice(folder.length), text: await load(), bytes: null })),
  );
  const job = files.find(({ path }) => path === "job.json");
  if (job === undefined) return null;
  return {
    title: name,
    example: name,
    job: job.text,
    files: files.filter(({ path }) => path !== "job.json" && path !== "tour.json"),
  };
}
