import { fill, h, icon, Tabs } from "./dom.ts";
import { editable, jobPath, type PlayDocument, withText } from "./document.ts";
import { Editor } from "./editor/editor.ts";
import { EngineClient, Stopped } from "./engine/client.ts";
import type { Finding, RunOutcome } from "./engine/protocol.ts";
import { LaunchForm } from "./launch/form.ts";
import { chooseTheme } from "./theme.ts";
import { LanesView } from "./views/lanes.ts";
import { ReportsView } from "./views/reports.ts";
import { ResultsView } from "./views/results.ts";

/** Steps of a warp that are recorded. */
const maxSteps = 10_000;

/** The page: an editor on one side, what came out on the other. */
export class Playground {
  readonly #editor: Editor;
  readonly #form: LaunchForm;
  readonly #runner = new EngineClient();
  readonly #watcher = new EngineClient();
  readonly #results = new ResultsView();
  readonly #lanes: LanesView;
  readonly #reports: ReportsView;
  readonly #views: Tabs;
  readonly #files = h("div", { class: "files", role: "group", "aria-label": "Files" });
  readonly #status = h("p", { class: "status", role: "status" });
  readonly #run: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #sanitize: HTMLInputElement;
  readonly #engine: HTMLSelectElement;
  #document: PlayDocument = { title: "", example: null, job: "", files: [] };

  constructor(root: HTMLElement) {
    this.#run = h("button", { type: "button", class: "primary", onclick: () => this.run() }, icon("run"), "Run");
    this.#stop = h(
      "button",
      { type: "button", class: "stop", hidden: true, onclick: () => this.stop() },
      icon("stop"),
      "Stop",
    );
    this.#sanitize = h("input", { type: "checkbox" });
    this.#engine = h(
      "select",
      { "aria-label": "Engine" },
      h("option", { value: "both" }, "both engines"),
      h("option", { value: "jit" }, "compiled"),
      h("option", { value: "interpreter" }, "interpreter"),
    );
    this.#form = new LaunchForm((job) => this.#edit(jobPath, job, "form"));
    this.#lanes = new LanesView((_, step) => this.#showStep(step));
    this.#reports = new ReportsView((range) => this.#show(range.path, () => this.#editor.select(range)));
    this.#views = new Tabs(
      "Views",
      [
        { id: "results", label: "Results", panel: this.#results.element },
        { id: "lanes", label: "Lanes", panel: this.#lanes.element },
        { id: "reports", label: "Reports", panel: this.#reports.element },
        { id: "launch", label: "Launch", panel: h("section", { class: "view" }, this.#form.element) },
      ],
      () => this.#lanes.redraw(),
    );
    const code = h("div", { class: "code" });
    append(root, this.#bar(), code, this.#views, this.#files, this.#status);
    this.#editor = new Editor(code, {
      onChange: (path, text) => this.#edit(path, text, "editor"),
      onRun: () => void this.run(),
    });
  }

  /** Opens a program in place of the present one. */
  open(document: PlayDocument): void {
    this.stop();
    this.#document = document;
    this.#editor.open(editable(document));
    this.#form.show(document.job);
    this.#results.show([]);
    this.#lanes.show(null);
    this.#showFindings([]);
    this.#showFiles();
    this.#status.textContent = "";
  }

  /** Runs the program in the engines that are chosen, and records what the first warp does. */
  async run(): Promise<void> {
    if (this.#runner.isBusy) return;
    const program = { job: this.#document.job, files: this.#document.files };
    const sanitize = this.#sanitize.checked;
    const choice = this.#engine.value;
    const engines = choice === "both" ? (["jit", "interpreter"] as const) : [choice as "jit" | "interpreter"];
    this.#busy(true);
    this.#status.textContent = "Running…";
    try {
      const outcomes: RunOutcome[] = [];
      for (const engine of engines) {
        const outcome = await this.#runner.request("run", {
          program,
          engine,
          sanitize: sanitize && engine === "interpreter",
        });
        outcomes.push(outcome);
        this.#results.show(outcomes);
        this.#showFindings(outcome.findings);
        if (!outcome.ok && outcome.launches.length === 0) break;
      }
      this.#say(outcomes);
      const traced = await this.#watcher.request("trace", {
        program,
        block: 0,
        warp: 0,
        sanitize: false,
        most: maxSteps,
      });
      this.#lanes.show("time" in traced ? traced : null, "time" in traced ? undefined : traced.failure);
    } catch (error) {
      this.#status.textContent =
        error instanceof Stopped ? "Stopped." : `The engine has failed: ${(error as Error).message}`;
    }
    this.#busy(false);
  }

  /** Ends what runs, at once. */
  stop(): void {
    if (this.#runner.isBusy) this.#runner.stop();
    if (this.#watcher.isBusy) this.#watcher.stop();
  }

  #bar(): HTMLElement {
    return h(
      "header",
      { class: "bar" },
      h(
        "a",
        { class: "brand", href: "./" },
        h("img", { src: "./icon.svg", alt: "", width: 26, height: 26 }),
        h("h1", {}, "Lanewise"),
      ),
      h(
        "div",
        { class: "actions" },
        this.#run,
        this.#stop,
        this.#engine,
        h("label", { class: "check" }, this.#sanitize, "sanitize"),
      ),
      h(
        "button",
        {
          type: "button",
          class: "icon-button theme",
          "aria-label": "Light or dark",
          onclick: () => (chooseTheme(), this.#lanes.redraw()),
        },
        icon("sun"),
      ),
    );
  }

  #say(outcomes: readonly RunOutcome[]): void {
    const failed = outcomes.find(({ ok }) => !ok);
    const times = outcomes.map(({ engine, launches }) => {
      const ms = launches.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
      return `${ms.toFixed(1)} ms ${engine === "jit" ? "compiled" : "interpreted"}`;
    });
    this.#status.textContent = failed ? (failed.failure ?? "failed") : `Done: ${times.join(", ")}.`;
  }

  #edit(path: string, text: string, by: "editor" | "form"): void {
    this.#document = withText(this.#document, path, text);
    if (path !== jobPath) return;
    if (by === "editor") this.#form.show(text);
    else this.#editor.setText(jobPath, text);
  }

  #showFindings(findings: readonly Finding[]): void {
    this.#reports.show(findings);
    this.#views.count("reports", findings.length > 0 ? findings.length : null);
    this.#editor.showFindings(findings);
  }

  #showStep(step: number): void {
    const site = this.#lanes.siteAt(step);
    if (site !== null) this.#editor.showNow(site.path, site.line);
  }

  #show(path: string, then: () => void): void {
    this.#editor.show(path);
    this.#showFiles();
    then();
  }

  #showFiles(): void {
    fill(
      this.#files,
      editable(this.#document).map(({ path }) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(path === this.#editor.path),
            onclick: () => this.#show(path, () => {}),
          },
          path,
        ),
      ),
    );
  }

  #busy(busy: boolean): void {
    this.#run.disabled = busy;
    this.#stop.hidden = !busy;
  }
}

function append(
  root: HTMLElement,
  bar: HTMLElement,
  code: HTMLElement,
  views: Tabs,
  files: HTMLElement,
  status: HTMLElement,
): void {
  const panels = [...views.list.querySelectorAll("[role=tab]")].map((tab) => views.panel(tab.id.slice("tab-".length)));
  root.append(
    bar,
    h(
      "main",
      {},
      h("section", { class: "source", "aria-label": "Source" }, files, code),
      h(
        "section",
        { class: "output", "aria-label": "What came out" },
        views.list,
        status,
        h("div", { class: "panels" }, panels),
      ),
    ),
  );
}
