import type { PlayDocument } from "./document.ts";

/** Files that are dropped on the page are opened. */
export function openDropped(
  root: HTMLElement,
  _open: (document: PlayDocument) => void,
  say: (message: string) => void,
): void {
  root.addEventListener("dragover", (event) => event.preventDefault());
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    say("");
  });
}
