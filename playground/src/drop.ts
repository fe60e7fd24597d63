import type { PlayDocument } from "./document.ts";
import { fill, h, icon } from "./dom.ts";
import type { EngineClient } from "./engine/client.ts";
import type { DroppedFile, LooseFile, OpenedProgram } from "./engine/protocol.ts";
import { writeJobJson } from "./launch/job-text.ts";

/** The largest file that is read. */
const maxBytes = 256 * 2 ** 20;

/** Hooks of the page. */
interface OpenEvents {
  readonly open: (document: PlayDocument) => void;
  /** Files that are no programs: data for the present one. */
  readonly add: (files: readonly LooseFile[]) => void;
  readonly say: (message: string) => void;
}

/** Opens files of the user's: dropped on the page, or chosen. They stay in the page. */
export class FileOpener {
  readonly element = h("dialog", { class: "gallery chooser", "aria-labelledby": "chooser-title" });
  readonly #engine: EngineClient;
  readonly #events: OpenEvents;
  readonly #input: HTMLInputElement;

  constructor(root: HTMLElement, engine: EngineClient, events: OpenEvents) {
    this.#engine = engine;
    this.#events = events;
    this.#input = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files to open" });
    this.#input.addEventListener("change", () => {
      void this.#take([...(this.#input.files ?? [])]);
      this.#input.value = "";
    });
    root.append(this.#input, this.element);
    root.addEventListener("dragover", (event) => {
      event.preventDefault();
      root.classList.add("dropping");
    });
    root.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) root.classList.remove("dropping");
    });
    root.addEventListener("drop", (event) => {
      event.preventDefault();
      root.classList.remove("dropping");
      void filesOf(event.dataTransfer).then((files) => this.#take(files));
    });
  }

  /** Lets the user choose files. */
  choose(): void {
    this.#input.click();
  }

  async #take(files: readonly File[]): Promise<void> {
    if (files.length === 0) return;
    const large = files.find(({ size }) => size > maxBytes);
    if (large !== undefined) {
      this.#events.say(`${large.name} is larger than ${maxBytes / 2 ** 20} MB.`);
      return;
    }
    this.#events.say("Reading…");
    try {
      const dropped = await Promise.all(
        files.map(
          async (file): Promise<DroppedFile> => ({
            path: file.webkitRelativePath || file.name,
            bytes: new Uint8Array(await file.arrayBuffer()),
          }),
        ),
      );
      const found = await this.#engine.request("open", { files: dropped });
      if ("failure" in found) this.#events.say(found.failure);
      else this.#offer(found.programs, found.loose, files.map(({ name }) => name).join(", "));
    } catch (error) {
      this.#events.say((error as Error).message);
    }
  }

  #offer(programs: readonly OpenedProgram[], loose: readonly LooseFile[], names: string): void {
    const [first] = programs;
    if (first === undefined) {
      if (loose.length === 0) this.#events.say(`There is no PTX or vISA in ${names}.`);
      else this.#events.add(loose);
    } else if (programs.length === 1) this.#open(first);
    else this.#choose(programs, names);
  }

  #open({ title, job, files, kernels }: OpenedProgram): void {
    const text = typeof job === "string" ? job : `${writeJobJson(job)}\n`;
    this.#events.open({ title, example: null, job: text, files });
    this.#events.say(
      kernels.length === 0 && typeof job !== "string"
        ? `Opened ${title}. There is no kernel in it that can be launched.`
        : `Opened ${title}. Its arguments are under Launch.`,
    );
  }

  #choose(programs: readonly OpenedProgram[], names: string): void {
    fill(
      this.element,
      h(
        "div",
        { class: "gallery-head" },
        h("h2", { id: "chooser-title" }, `${programs.length} programs in ${names}`),
        h(
          "button",
          { type: "button", class: "icon-button", "aria-label": "Close", onclick: () => this.element.close() },
          icon("close"),
        ),
      ),
      h(
        "ul",
        { class: "cards" },
        programs.map((program) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                class: "card",
                onclick: () => {
                  this.element.close();
                  this.#open(program);
                },
              },
              h("strong", {}, program.title),
              h(
                "span",
                { class: "faint" },
                program.kernels.length === 0 ? "no kernels" : program.kernels.slice(0, 4).join(", "),
              ),
            ),
          ),
        ),
      ),
    );
    this.element.showModal();
  }
}

/** The files of a drop, those in folders too. */
async function filesOf(dropped: DataTransfer | null): Promise<File[]> {
  // What was dropped is known only until the first wait.
  const entries = [...(dropped?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const plain = [...(dropped?.files ?? [])];
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found: File[] = [];
  for (const entry of entries) if (entry !== null) await collect(entry, found);
  return found;
}

/** The most files that are read of a folder. */
const maxFiles = 2000;

async function collect(entry: FileSystemEntry, into: File[]): Promise<void> {
  if (into.length >= maxFiles) return;
  if (entry.isFile) {
    into.push(await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)));
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A folder is read in parts, the last of which is empty.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const child of part) await collect(child, into);
  }
}
