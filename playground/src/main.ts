import { Playground } from "./app.ts";
import { examples } from "./gallery/gallery.ts";
import { fromFragment } from "./share/fragment.ts";
import { applyTheme } from "./theme.ts";

/** Opens what the address says; without anything, the first example. */
async function openAddress(playground: Playground): Promise<void> {
  const example = /^#e=([\w-]+)$/.exec(location.hash)?.[1];
  if (example !== undefined && (await playground.openExample(example))) return;
  try {
    const shared = await fromFragment(location.hash);
    if (shared !== null) {
      playground.open(shared.document, shared.view);
      return;
    }
  } catch (error) {
    await playground.openExample(examples[0]!.id);
    playground.complain((error as Error).message);
    return;
  }
  await playground.openExample(examples[0]!.id);
}

applyTheme();
const root = document.getElementById("app")!;
root.replaceChildren();
const playground = new Playground(root);
await openAddress(playground);
addEventListener("hashchange", () => void openAddress(playground));

// All files are kept for when there is no network: after the first run, which needs the largest of them, or when the
// page has been open for a while. Who only looks gets no more than the page.
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  const keep = (): void => {
    void navigator.serviceWorker.register("./service-worker.js").catch(() => {});
  };
  void Promise.race([playground.hasRun, new Promise((resolve) => setTimeout(resolve, 20_000))]).then(keep);
}
