import { applyTheme } from "./theme.ts";
import { Playground } from "./app.ts";
import { loadExample } from "./gallery/gallery.ts";

applyTheme();
const playground = new Playground(document.getElementById("app")!);
const example = await loadExample("divergent-call");
if (example !== null) playground.open(example);
