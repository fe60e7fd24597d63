import { Playground } from "./app.ts";
import { pause } from "./dom.ts";
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
await pause();
// The page is put together behind what is seen meanwhile, so that nothing moves.
const waiting = document.getElementById("app")!;
const root = waiting.cloneNode() as HTMLElement;
root.classList.add("behind");
waiting.before(root);
const playground = new Playground(root);
await pause();
await openAddress(playground);
waiting.remove();
root.classList.remove("behind");
addEventListener("hashchange", () => void openAddress(playground));

// All files are kept for when there is no network: after the first run, which needs the largest of them, or when the
// page has been open for a while. Who only looks gets no more than the page.
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  const keep = (): void => {
    void navigator.serviceWorker.register("./service-worker.js").catch(() => {});
  };
  void Promise.race([playground.hasRun, new Promise((resolve) => setTimeout(resolve, 20_000))]).then(keep);
}
