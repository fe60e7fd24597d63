import { jobPath, type PlayDocument, withFiles, withKernel, withModule, withText } from "./document.ts";
import { h, pause, reveal, Tabs } from "./dom.ts";
import { FileOpener } from "./drop.ts";
import type { LensAction } from "./editor/lenses.ts";
import { EngineClient, Stopped } from "./engine/client.ts";
import type { FileRange, Finding, LooseFile, Program, RunOutcome } from "./engine/protocol.ts";
import { GalleryDialog } from "./gallery/dialog.ts";
import { exampleAfter, loadExample, loadTour, type TourStep } from "./gallery/gallery.ts";
import { Tour } from "./gallery/tour.ts";
import { Inspection, lanesPanel } from "./inspection.ts";
import { readJobJson, writeJobJson } from "./launch/job-text.ts";
import { toFragment } from "./share/fragment.ts";
import { SourcePanel } from "./source.ts";
import { chooseTheme } from "./theme.ts";
import { Toolbar } from "./toolbar.ts";
import type { PictureSize } from "./views/buffer-picture.ts";
import { ProfileView } from "./views/profile.ts";
import { ReportsView } from "./views/reports.ts";
import { ResultsView, summaryOf } from "./views/results.ts";
import { countOf, SchedulesView } from "./views/schedules.ts";

/** How a program is run. */
interface RunSettings {
  readonly engines: readonly ("jit" | "interpreter")[];
  readonly sanitize: boolean;
}

/** The page: an editor on one side, what came out on the other. */
export class Playground {
  readonly #source: SourcePanel;
  readonly #runner = new EngineClient();
  readonly #watcher = new EngineClient();
  readonly #inspection: Inspection;
  readonly #results: ResultsView;
  readonly #reports: ReportsView;
  readonly #profile: ProfileView;
  readonly #schedules: SchedulesView;
  readonly #views: Tabs;
  readonly #output = h("section", { class: "output", "aria-label": "What came out" });
  readonly #tour = new Tour({
    onStep: (step) => void this.#showTourStep(step),
    onExample: (id) => void this.openExample(id),
  });
  readonly #gallery = new GalleryDialog((id) => void this.openExample(id));
  readonly #opener: FileOpener;
  readonly #status = h("p", { class: "status", role: "status" });
  readonly #toolbar = new Toolbar({
    onRun: () => void this.run(),
    onStop: () => this.stop(),
    onExamples: () => this.#gallery.show(),
    onOpen: () => this.#opener.choose(),
    onShare: () => void this.#share(),
    onTheme: () => this.#changeTheme(),
  });
  /** The pictures among the data of the program. */
  #pictures: readonly PictureSize[] = [];
  #document: PlayDocument = { title: "", example: null, job: "", files: [] };
  /** The program that the views are about; null: it has been edited since, or has not run. */
  #shown: { readonly program: Program; readonly sanitize: boolean } | null = null;

  #onRun = (): void => {};
  /** Resolved when a program has run for the first time. */
  readonly hasRun = new Promise<void>((resolve) => {
    this.#onRun = resolve;
  });

  constructor(root: HTMLElement) {
    const say = (message: string): void => this.#say(message);
    this.#source = new SourcePanel(
      {
        onChange: (path, text) => this.#edit(path, text),
        onJob: (job) => this.#edit(jobPath, job),
        onKernel: (launch, kernel) => void this.#launchKernel(launch, kernel),
        onNewFile: () => this.#newFile(),
        onRemove: (path) => this.#change(withModule(this.#document, path, null)),
        onRun: () => void this.run(),
        onPlace: (range) => this.#source.select(range),
        onProblem: say,
        onLens: (command, kernel) => void this.#doWith(command, kernel),
        onBreakpoints: () => this.#inspection.breakpoints.show(this.#source.editor.breakpoints()),
        onRunTo: (path, line, backward) => void this.#runTo(path, line, backward),
        onCondition: (path, line) => this.#inspection.breakpoints.edit(path, line),
      },
      this.#tour.element,
    );
    this.#results = new ResultsView({
      onPlace: (range) => this.#source.select(range),
      onRun: () => void this.run(),
      onExamples: () => this.#gallery.show(),
      onOpen: () => this.#opener.choose(),
    });
    const { editor } = this.#source;
    const go = (path: string, line: number): void => this.#source.showLine(path, line);
    this.#inspection = new Inspection(this.#watcher, {
      onLine: (path, line) => editor.showNow(path, line),
      onTrace: ({ found }) => this.#reports.know(found),
      breakpoints: () => editor.breakpoints(),
      onBreakpointLine: go,
      onCondition: (breakpoint, condition) => editor.setBreakpoint(breakpoint, condition),
      onProblem: say,
    });
    this.#reports = new ReportsView(
      (range: FileRange) => this.#source.select(range),
      (time) => {
        this.#views.show("lanes");
        this.#inspection.goTo(time);
      },
    );
    this.#profile = new ProfileView({
      onProfile: () => void this.#count(),
      onHeat: (lines) => editor.showHeat(lines),
      onLine: go,
      lineText: (path, line) => editor.lineText(path, line),
    });
    this.#schedules = new SchedulesView({ onExplore: (budget) => void this.#explore(budget), onLine: go });
    this.#views = this.#makeViews();
    root.append(this.#toolbar.element, this.#main(), this.#gallery.element);
    this.#opener = new FileOpener(root, this.#runner, {
      open: (document) => this.open(document),
      add: (files) => this.#addFiles(files),
      say,
    });
  }

  /** Opens a program in place of the present one. */
  open(document: PlayDocument, view = "results"): void {
    this.stop();
    this.#document = document;
    this.#shown = null;
    this.#reports.explainNone(null);
    this.#toolbar.title = document.title;
    this.#pictures = [];
    this.#source.open(document);
    this.#results.show([]);
    this.#inspection.clear();
    this.#profile.show(null);
    this.#schedules.show(null);
    this.#tour.show([]);
    this.#showFindings([]);
    this.#say("");
    this.#views.show(view);
  }

  /** Opens an example of the gallery, with its tour. */
  async openExample(id: string, view?: string): Promise<boolean> {
    const document = await loadExample(id);
    if (document === null) return false;
    const tour = await loadTour(id);
    const [first] = document.files;
    if (first?.text) this.#source.editor.prepare(first.path, first.text);
    await pause();
    this.open(document, view);
    history.replaceState(null, "", `#e=${id}`);
    await pause();
    if (this.#document === document) this.#tour.show(tour, exampleAfter(id));
    return true;
  }

  /** Runs the program in the engines that are chosen, and records what the first warp does. */
  async run(settings: Partial<RunSettings> = {}): Promise<void> {
    if (this.#toolbar.isBusy) return;
    const engines = settings.engines ?? this.#toolbar.engines;
    const sanitize = settings.sanitize ?? this.#toolbar.sanitize;
    this.#toolbar.sanitize = sanitize;
    const program = this.#program;
    this.#say("Running…");
    await this.#busily(async () => {
      const outcomes: RunOutcome[] = [];
      for (const engine of engines) {
        // What the compiler leaves to the interpreter has run there.
        if (outcomes.some((outcome) => outcome.engine === engine)) continue;
        const outcome = await this.#runner.request("run", { program, engine, sanitize });
        outcomes.push(outcome);
        this.#results.show(outcomes, this.#pictures);
        this.#showFindings(outcome.findings);
        if (!outcome.ok && outcome.launches.length === 0) break;
      }
      this.#say(summaryOf(outcomes));
      this.#reports.explainNone(sanitize);
      await this.#inspection.open(program, { sanitize });
      this.#shown = { program, sanitize };
      this.#onRun();
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

  #main(): HTMLElement {
    this.#output.append(
      this.#views.list,
      this.#status,
      h("div", { class: "panels" }, this.#views.panels),
      this.#inspection.timeBar.element,
      this.#inspection.breakpoints.element,
    );
    return h("main", {}, this.#source.element, this.#output);
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
    const what =
      example === null ? "It holds the whole program: nothing has left this page." : "It opens this example.";
    try {
      await navigator.clipboard.writeText(location.href);
      this.#say(`The link is in the clipboard. ${what}`);
    } catch {
      this.#say(`The link is in the address bar. ${what}`);
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
      this.#say(explored.failure ?? `${countOf(explored.schedules, "schedule")} tried.`);
    });
  }

  /** Does something that one can stop. */
  async #busily(work: () => Promise<void>): Promise<void> {
    if (this.#toolbar.isBusy) return;
    this.#toolbar.isBusy = true;
    reveal(this.#output);
    try {
      await work();
    } catch (error) {
      this.#say(error instanceof Stopped ? "Stopped." : `The engine has failed: ${(error as Error).message}`);
    }
    this.#toolbar.isBusy = false;
  }

  async #showTourStep({ text: _, ...step }: TourStep): Promise<void> {
    const file = step.file ?? this.#document.files[0]?.path;
    const { editor } = this.#source;
    if (file !== undefined) {
      this.#source.show(file);
      editor.showTour(step.lines ?? []);
    }
    if (step.act === "run") await this.run({ sanitize: false });
    else if (step.act === "sanitize") await this.run({ sanitize: true });
    else if (step.act === "profile") await this.#count();
    else if (step.act === "explore") await this.#explore(500);
    else if (step.at !== undefined && this.#shown === null) await this.run();
    if (step.view !== undefined) this.#views.show(step.view);
    const isAboutText = step.view === undefined && step.act === undefined && step.at === undefined;
    reveal(isAboutText ? this.#source.element : this.#output);
    if (step.at === undefined) return;
    const line = editor.lineWith(step.at.line);
    const at = line === null ? null : this.#inspection.nthStepAtLine(line, step.at.hit ?? 1);
    if (at !== null) this.#inspection.chooseStep(at, step.at.lane ?? null);
  }

  #edit(path: string, text: string): void {
    const wasExample = this.#document.example !== null;
    this.#document = { ...withText(this.#document, path, text), example: null };
    this.#shown = null;
    if (wasExample) history.replaceState(null, "", location.pathname + location.search);
    this.#source.update(this.#document);
  }

  /** Opens the program with other files, without its tour. */
  #change(document: PlayDocument, path?: string): void {
    this.#document = { ...document, example: null };
    this.#shown = null;
    this.#source.open(this.#document, path);
  }

  /** Adds data to the program, for buffers of the job that name it. */
  #addFiles(files: readonly LooseFile[]): void {
    const names = files.map(({ path }) => path);
    this.#change(
      withFiles(
        this.#document,
        files.map(({ path, text, bytes }) => ({ path, text, bytes })),
      ),
    );
    this.#source.offer(new Map(files.map(({ path, shape }) => [path, shape])));
    this.#pictures = [...this.#pictures, ...files.flatMap(({ shape }) => shape?.picture ?? [])];
    this.#source.showLaunch(true);
    this.#say(`Added ${names.join(", ")}: choose it for a buffer under Launch.`);
  }

  #newFile(): void {
    const [first] = this.#document.files;
    const ending = first !== undefined && /\.(visaasm|isaasm)$/.test(first.path) ? "visaasm" : "ptx";
    const name = window.prompt("The name of the new file:", `more.${ending}`)?.trim() ?? "";
    if (name === "") return;
    if (name === jobPath || this.#document.files.some(({ path }) => path === name)) {
      this.#say(`There is a file ${name} already.`);
      return;
    }
    const head = /\.version[^\n]*\n\.target[^\n]*\n\.address_size[^\n]*\n/.exec(first?.text ?? "")?.[0];
    this.#change(withModule(this.#document, name, ending === "ptx" ? `${head ?? ".version 8.0\n"}\n` : ""), name);
  }

  /** Changes the kernel of a launch. Says whether it is of that kernel now. */
  async #launchKernel(launch: number, kernel: string): Promise<boolean> {
    const job = readJobJson(this.#document.job);
    const found = job && (await this.#watcher.request("propose", { program: this.#program, kernel }));
    if (!job || !found) {
      this.#say(job ? `${kernel} cannot be launched yet: correct the program first.` : "job.json is not valid JSON.");
      return false;
    }
    this.#edit(jobPath, `${writeJobJson(withKernel(job, launch, kernel, found))}\n`);
    this.#say(`The job launches ${kernel}. Its arguments are under Launch.`);
    return true;
  }

  /** Does what a lens above a kernel says. */
  async #doWith(command: Parameters<LensAction>[0], kernel: string): Promise<void> {
    const launches = readJobJson(this.#document.job)?.launches;
    const isLaunched = launches === undefined || launches.some((launch) => launch.kernel === kernel);
    if (!isLaunched && !(await this.#launchKernel(0, kernel))) return;
    if (command === "profile") {
      this.#views.show("profile");
      await this.#count();
      return;
    }
    await this.run({ sanitize: command === "sanitize" });
    this.#views.show({ run: "results", debug: "lanes", sanitize: "reports" }[command]);
  }

  async #runTo(path: string, line: number, backward: boolean): Promise<void> {
    if (this.#shown === null) await this.run();
    this.#inspection.goToLine(path, line, backward);
  }

  #showFindings(findings: readonly Finding[]): void {
    this.#reports.show(findings);
    this.#views.count("reports", findings.length > 0 ? findings.length : null);
    this.#source.editor.showFindings(findings);
  }

  #say(text: string): void {
    this.#status.textContent = text;
  }
}
