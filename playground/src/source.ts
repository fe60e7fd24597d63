import { editable, jobPath, type PlayDocument } from "./document.ts";
import { fill, h, icon } from "./dom.ts";
import { Editor, type EditorEvents } from "./editor/editor.ts";
import type { DataShape, FileRange } from "./engine/protocol.ts";
import { LaunchForm } from "./launch/form.ts";

/** Hooks of the page. */
interface SourceEvents extends EditorEvents {
  /** The job has been changed in the form. */
  readonly onJob: (job: string) => void;
  readonly onKernel: (launch: number, kernel: string) => void;
  readonly onNewFile: () => void;
  readonly onRemove: (path: string) => void;
}

/** The files of the program, in an editor, and the settings of its launches as a form. */
export class SourcePanel {
  readonly element: HTMLElement;
  readonly editor: Editor;
  readonly #form: LaunchForm;
  readonly #files = h("div", { class: "files", role: "group", "aria-label": "Files" });
  readonly #code = h("div", { class: "code" });
  readonly #launch: HTMLElement;
  readonly #events: SourceEvents;
  #document: PlayDocument = { title: "", example: null, job: "", files: [] };

  constructor(events: SourceEvents, below: HTMLElement) {
    this.#events = events;
    this.editor = new Editor(this.#code, {
      ...events,
      onPlace: (range) => this.select(range),
    });
    this.#form = new LaunchForm({ onChange: events.onJob, onKernel: events.onKernel });
    this.#launch = h("div", { class: "launch", hidden: true }, this.#form.element);
    this.element = h(
      "section",
      { class: "source", "aria-label": "Source" },
      this.#files,
      this.#code,
      this.#launch,
      below,
    );
  }

  /** Shows a program in place of the present one, and of it a file; the first if none is named. */
  open(document: PlayDocument, path?: string): void {
    this.#document = document;
    const shapes = document.files.flatMap(({ path: name, text }) => (text === null ? [[name, null] as const] : []));
    this.editor.open(editable(document), path);
    this.#form.offer(new Map(shapes));
    this.showLaunch(false);
  }

  /** Learns what has become of the document, of which no text has changed but perhaps the job. */
  update(document: PlayDocument): void {
    this.#document = document;
    this.editor.setText(jobPath, document.job);
    this.#showForm();
  }

  /** Learns which data there are for buffers. */
  offer(data: ReadonlyMap<string, DataShape | null>): void {
    this.#form.offer(data);
  }

  /** Shows a file. */
  show(path: string): void {
    this.editor.show(path);
    this.showLaunch(false);
  }

  /** Selects a range, in the file that it is in. */
  select(range: FileRange): void {
    this.show(range.path);
    this.editor.select(range);
  }

  /** Goes to a line of a file. */
  showLine(path: string, line: number): void {
    this.show(path);
    this.editor.showLine(line);
  }

  /** Shows the settings of the launch in place of the editor, or the editor. */
  showLaunch(shown: boolean): void {
    this.#launch.hidden = !shown;
    this.#code.hidden = shown;
    this.#showFiles();
    this.#showForm();
    if (shown) void this.#showKernels();
  }

  /** Brings the form up to date, if it is seen. */
  #showForm(): void {
    if (!this.#launch.hidden) this.#form.show(this.#document.job);
  }

  /** Tells the form the kernels of the program, and the types of their parameters. */
  async #showKernels(): Promise<void> {
    const found = await Promise.all(this.#document.files.map(({ path }) => this.editor.kernelsOf(path)));
    this.#form.showKernels(new Map(found.flatMap((kernels) => [...kernels])));
  }

  #showFiles(): void {
    const isLaunch = !this.#launch.hidden;
    const files = editable(this.#document);
    const tab = (label: string, pressed: boolean, act: () => void): HTMLElement =>
      h("button", { type: "button", "aria-pressed": String(pressed), onclick: act }, label);
    const small = (name: "plus" | "close", label: string, act: () => void): HTMLElement =>
      h(
        "button",
        { type: "button", class: "file-button", "aria-label": label, title: label, onclick: act },
        icon(name),
      );
    fill(
      this.#files,
      files.flatMap(({ path }) => {
        const isShown = !isLaunch && path === this.editor.path;
        return [
          tab(path, isShown, () => this.show(path)),
          isShown &&
            path !== jobPath &&
            files.length > 2 &&
            small("close", `Remove ${path}`, () => this.#events.onRemove(path)),
        ];
      }),
      small("plus", "New file", () => this.#events.onNewFile()),
      tab("Launch", isLaunch, () => this.showLaunch(true)),
    );
  }
}
