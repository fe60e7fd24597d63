import { editable, jobPath, type PlayDocument, withText } from "./document.ts";
import { fill, h, type IconName, icon, Tabs } from "./dom.ts";
import { FileOpener } from "./drop.ts";
import { Editor } from "./editor/editor.ts";
import { EngineClient, Stopped } from "./engine/client.ts";
import type { FileRange, Finding, Program, ProgramFile, RunOutcome } from "./engine/protocol.ts";
import { GalleryDialog } from "./gallery/dialog.ts";
import { loadExample, loadTour, type TourStep } from "./gallery/gallery.ts";
import { Tour } from "./gallery/tour.ts";
import { Inspection, lanesPanel } from "./inspection.ts";
import { LaunchForm } from "./launch/form.ts";
import { toFragment } from "./share/fragment.ts";
import { chooseTheme } from "./theme.ts";
import { ProfileView } from "./views/profile.ts";
import { ReportsView } from "./views/reports.ts";
import { ResultsView } from "./views/results.ts";
import { SchedulesView } from "./views/schedules.ts";

/** How a program is run. */
interface RunSettings {
  readonly engines: readonly ("jit" | "interpreter")[];
  readonly sanitize: boolean;
}

/** The page: an editor on one side, what came out on the other. */
export class Playground {
  readonly #editor: Editor;
  readonly #runner = new EngineClient();
  readonly #watcher = new EngineClient();
  readonly #inspection: Inspection;
  readonly #form = new LaunchForm((job) => this.#edit(jobPath, job, "form"));
  readonly #results = new ResultsView();
  readonly #reports: ReportsView;
  readonly #profile: ProfileView;
  readonly #schedules: SchedulesView;
  readonly #views: Tabs;
  readonly #tour = new Tour((step) => void this.#showTourStep(step));
  readonly #gallery = new GalleryDialog((id) => void this.openExample(id));
  readonly #opener: FileOpener;
  readonly #files = h("div", { class: "files", role: "group", "aria-label": "Files" });
  readonly #code = h("div", { class: "code" });
  readonly #launch = h("div", { class: "launch", hidden: true }, this.#form.element);
  readonly #status = h("p", { class: "status", role: "status" });
  readonly #title = h("span", { class: "title" });
  readonly #run = button("run", "Run", () => void this.run(), "primary");
  readonly #stop = button("stop", "Stop", () => this.stop(), "stop");
  readonly #sanitize = h("input", { type: "checkbox" });
  readonly #engine = h(
    "select",
    { "aria-label": "Engine" },
    h("option", { value: "both" }, "both engines"),
    h("option", { value: "jit" }, "compiled"),
    h("option", { value: "interpreter" }, "interpreter"),
  );
  #document: PlayDocument = { title: "", example: null, job: "", files: [] };
  /** The program that the views are about; null: it has been edited since, or has not run. */
  #shown: { readonly program: Program; readonly sanitize: boolean } | null = null;

  constructor(root: HTMLElement) {
    this.#editor = new Editor(this.#code, {
      onChange: (path, text) => this.#edit(path, text, "editor"),
      onRun: () => void this.run(),
      onPlace: (range) => this.#open(range.path, () => this.#editor.select(range)),
      onProblem: (message) => this.#say(message),
    });
    this.#inspection = new Inspection(this.#watcher, {
      onLine: (path, line) => this.#editor.showNow(path, line),
      onTrace: ({ found }) => this.#reports.know(found),
      breakpoints: () => this.#editor.breakpoints(),
      onProblem: (message) => this.#say(message),
    });
    const go = (path: string, line: number): void => this.#open(path, () => this.#editor.showLine(line));
    this.#reports = new ReportsView(
      (range: FileRange) => this.#open(range.path, () => this.#editor.select(range)),
      (time) => {
        this.#views.show("lanes");
        this.#inspection.goTo(time);
      },
    );
    this.#profile = new ProfileView({
      onProfile: () => void this.#count(),
      onHeat: (lines) => this.#editor.showHeat(lines),
      onLine: go,
    });
    this.#schedules = new SchedulesView({ onExplore: (budget) => void this.#explore(budget), onLine: go });
    this.#views = this.#makeViews();
    this.#stop.hidden = true;
    root.append(this.#bar(), this.#main(), this.#gallery.element);
    this.#opener = new FileOpener(root, this.#runner, {
      open: (document) => this.open(document),
      add: (files) => this.#addFiles(files),
      say: (message) => this.#say(message),
    });
  }

  /** Opens a program in place of the present one. */
  open(document: PlayDocument, view = "results"): void {
    this.stop();
    this.#document = document;
    this.#shown = null;
    this.#title.textContent = document.title;
    this.#editor.open(editable(document));
    this.#form.offer(document.files.filter(({ text }) => text === null).map(({ path }) => path));
    this.#form.show(document.job);
    this.#results.show([]);
    this.#inspection.clear();
    this.#profile.show(null);
    this.#schedules.show(null);
    this.#tour.show([]);
    this.#showFindings([]);
    this.#showLaunch(false);
    this.#say("");
    this.#views.show(view);
  }

  /** Opens an example of the gallery, with its tour. */
  async openExample(id: string, view?: string): Promise<boolean> {
    const document = await loadExample(id);
    if (document === null) return false;
    const tour = await loadTour(id);
    this.open(document, view);
    history.replaceState(null, "", `#e=${id}`);
    this.#tour.show(tour);
    return true;
  }

  /** Runs the program in the engines that are chosen, and records what the first warp does. */
  async run(settings: Partial<RunSettings> = {}): Promise<void> {
    if (this.#isBusy) return;
    const choice = this.#engine.value;
    const engines =
      settings.engines ?? (choice === "both" ? ["jit", "interpreter"] : [choice as "jit" | "interpreter"]);
    const sanitize = settings.sanitize ?? this.#sanitize.checked;
    this.#sanitize.checked = sanitize;
    const program = this.#program;
    this.#say("Running…");
    await this.#busily(async () => {
      const outcomes: RunOutcome[] = [];
      for (const engine of sanitize ? (["interpreter"] as const) : engines) {
        const outcome = await this.#runner.request("run", { program, engine, sanitize });
        outcomes.push(outcome);
        this.#results.show(outcomes);
        this.#showFindings(outcome.findings);
        if (!outcome.ok && outcome.launches.length === 0) break;
      }
      this.#say(summaryOf(outcomes));
      await this.#inspection.open(program, { sanitize });
      this.#shown = { program, sanitize };
    });
  }

  /** Ends what runs, at once. */
  stop(): void {
    if (this.#runner.isBusy) this.#runner.stop();
    if (this.#watcher.isBusy) this.#watcher.stop();
  }

  /** Shows a message about the link that the page was opened with. */
  complain(message: string): void {
    this.#say(message);
  }

  get #program(): Program {
    return { job: this.#document.job, files: this.#document.files };
  }

  get #isBusy(): boolean {
    return this.#run.disabled;
  }

  #makeViews(): Tabs {
    const view = (label: string, child: HTMLElement): HTMLElement =>
      h("section", { class: "view", "aria-label": label }, child);
    return new Tabs(
      "Views",
      [
        { id: "results", label: "Results", panel: this.#results.element },
        { id: "lanes", label: "Lanes", panel: lanesPanel(this.#inspection) },
        { id: "memory", label: "Memory", panel: view("Memory", this.#inspection.memory.element) },
        { id: "reports", label: "Reports", panel: this.#reports.element },
        { id: "profile", label: "Profile", panel: this.#profile.element },
        { id: "schedules", label: "Schedules", panel: this.#schedules.element },
        { id: "console", label: "Console", panel: view("Console", this.#inspection.console.element) },
      ],
      (id) => {
        this.#inspection.lanes.redraw();
        this.#inspection.showMemory(id === "memory");
      },
    );
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
        h(
          "label",
          { class: "check", title: "Look for undefined behaviour while the kernel runs" },
          this.#sanitize,
          "sanitize",
        ),
      ),
      h(
        "div",
        { class: "actions right" },
        this.#title,
        button("grid", "Examples", () => this.#gallery.element.showModal()),
        button("open", "Open", () => this.#opener.choose()),
        button("share", "Share", () => void this.#share()),
        h(
          "button",
          { type: "button", class: "icon-button", "aria-label": "Light or dark", onclick: () => this.#changeTheme() },
          icon("sun"),
        ),
      ),
    );
  }

  #main(): HTMLElement {
    return h(
      "main",
      {},
      h(
        "section",
        { class: "source", "aria-label": "Source" },
        this.#files,
        this.#code,
        this.#launch,
        this.#tour.element,
      ),
      h(
        "section",
        { class: "output", "aria-label": "What came out" },
        this.#views.list,
        this.#status,
        h("div", { class: "panels" }, this.#views.panels),
        this.#inspection.timeBar.element,
      ),
    );
  }

  #changeTheme(): void {
    chooseTheme();
    this.#inspection.lanes.redraw();
  }

  async #share(): Promise<void> {
    const { example } = this.#document;
    const fragment =
      example === null ? await toFragment({ document: this.#document, view: this.#views.shown }) : `#e=${example}`;
    history.replaceState(null, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      this.#say("The link is in the clipboard. It holds the whole program: nothing has left this page.");
    } catch {
      this.#say("The link is in the address bar. It holds the whole program: nothing has left this page.");
    }
  }

  async #count(): Promise<void> {
    const program = this.#program;
    this.#say("Counting…");
    await this.#busily(async () => {
      const profile = await this.#runner.request("profile", { program });
      this.#profile.show(profile);
      this.#showFindings(profile.findings);
      this.#say(profile.failure ?? "Counted.");
    });
  }

  async #explore(budget: number): Promise<void> {
    const program = this.#program;
    await this.#busily(async () => {
      const explored = await this.#runner.request("explore", { program, budget }, (tried) =>
        this.#say(`Trying schedule ${tried}…`),
      );
      this.#schedules.show(explored);
      this.#showFindings(explored.findings);
      this.#say(explored.failure ?? `${explored.schedules} schedules tried.`);
    });
  }

  /** Does something that one can stop. */
  async #busily(work: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#run.disabled = true;
    this.#stop.hidden = false;
    try {
      await work();
    } catch (error) {
      this.#say(error instanceof Stopped ? "Stopped." : `The engine has failed: ${(error as Error).message}`);
    }
    this.#run.disabled = false;
    this.#stop.hidden = true;
  }

  async #showTourStep({ text: _, ...step }: TourStep): Promise<void> {
    const file = step.file ?? this.#document.files[0]?.path;
    if (file !== undefined) this.#open(file, () => this.#editor.showTour(step.lines ?? []));
    if (step.act === "run") await this.run({ sanitize: false });
    else if (step.act === "sanitize") await this.run({ sanitize: true });
    else if (step.act === "profile") await this.#count();
    else if (step.act === "explore") await this.#explore(500);
    else if (step.at !== undefined && this.#shown === null) await this.run();
    if (step.view !== undefined) this.#views.show(step.view);
    if (step.at === undefined) return;
    const line = this.#editor.lineWith(step.at.line);
    const at = line === null ? null : this.#inspection.nthStepAtLine(line, step.at.hit ?? 1);
    if (at !== null) this.#inspection.chooseStep(at, step.at.lane ?? null);
  }

  #edit(path: string, text: string, by: "editor" | "form"): void {
    const wasExample = this.#document.example !== null;
    this.#document = { ...withText(this.#document, path, text), example: null };
    this.#shown = null;
    if (wasExample) history.replaceState(null, "", location.pathname + location.search);
    if (path !== jobPath) return;
    if (by === "editor") this.#form.show(text);
    else this.#editor.setText(jobPath, text);
  }

  /** Adds data to the program; a `.npy` file becomes what fills a buffer of the job that names it. */
  #addFiles(files: readonly ProgramFile[]): void {
    const names = files.map(({ path }) => path);
    const kept = this.#document.files.filter(({ path }) => !names.includes(path));
    this.#document = { ...this.#document, files: [...kept, ...files], example: null };
    this.#shown = null;
    this.#form.offer(names);
    this.#showLaunch(true);
    this.#say(`Added ${names.join(", ")}: choose it for a buffer below.`);
  }

  #showFindings(findings: readonly Finding[]): void {
    this.#reports.show(findings);
    this.#views.count("reports", findings.length > 0 ? findings.length : null);
    this.#editor.showFindings(findings);
  }

  #open(path: string, then: () => void): void {
    this.#editor.show(path);
    this.#showLaunch(false);
    then();
  }

  /** Shows the settings of the launch in place of the editor, or the editor. */
  #showLaunch(shown: boolean): void {
    this.#launch.hidden = !shown;
    this.#code.hidden = shown;
    this.#showFiles();
    if (shown) void this.#showTypes();
  }

  /** Tells the form the types of the kernels' parameters. */
  async #showTypes(): Promise<void> {
    const kernels = this.#form.kernels;
    const found = await Promise.all(
      kernels.map(async (kernel) => {
        for (const { path } of this.#document.files) {
          const parameters = await this.#editor.parametersOf(path, kernel);
          if (parameters.length > 0) return [kernel, parameters] as const;
        }
        return [kernel, []] as const;
      }),
    );
    this.#form.showTypes(new Map(found));
  }

  #showFiles(): void {
    const tab = (label: string, pressed: boolean, act: () => void): HTMLElement =>
      h("button", { type: "button", "aria-pressed": String(pressed), onclick: act }, label);
    const isLaunch = !this.#launch.hidden;
    fill(
      this.#files,
      editable(this.#document).map(({ path }) =>
        tab(path, !isLaunch && path === this.#editor.path, () => this.#open(path, () => {})),
      ),
      tab("Launch", isLaunch, () => this.#showLaunch(true)),
    );
  }

  #say(text: string): void {
    this.#status.textContent = text;
  }
}

const button = (name: IconName, label: string, act: () => void, kind = ""): HTMLButtonElement =>
  h("button", { type: "button", class: kind, onclick: act }, icon(name), h("span", { class: "button-label" }, label));

function summaryOf(outcomes: readonly RunOutcome[]): string {
  const failed = outcomes.find(({ ok }) => !ok);
  if (failed !== undefined) return failed.failure ?? "failed";
  const times = outcomes.map(({ engine, launches }) => {
    const ms = launches.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    return `${ms.toFixed(1)} ms ${engine === "jit" ? "compiled" : "interpreted"}`;
  });
  return `Done: ${times.join(", ")}.`;
}
