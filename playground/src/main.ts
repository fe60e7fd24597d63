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

// Kept for when there is no network, once the page has settled.
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  const keep = (): void => {
    void navigator.serviceWorker.register("./service-worker.js").catch(() => {});
  };
  setTimeout(keep, 3000);
}
