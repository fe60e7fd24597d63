import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { findChromium } from "../browser/chromium.ts";
import { root } from "./gallery-files.ts";
import { buildSite, canBuild, serveSite, type Site } from "./site.ts";

/** How long anything may take, however busy the machine is. */
export const patience = 120_000;

/** What is true in a while. */
export const eventually = <T>(get: () => T) => expect.poll(get, { timeout: patience / 4 });

export const chromiumPath = findChromium();

/** Why the playground cannot be opened on this machine; null if it can. */
export const missingFor = (browser: string | null, name: string): string | null =>
  browser === null ? `there is no ${name}` : canBuild ? null : "its packages are not installed";

/** A file that is dropped on the page. */
export interface Dropped {
  readonly name: string;
  readonly bytes: readonly number[];
}

/** A file of the repository, to be dropped. */
export const fileOf = (path: string, name: string): Dropped => ({ name, bytes: [...readFileSync(join(root, path))] });

/** The playground, built anew, in a page of a browser. */
export class PlaygroundPage {
  readonly browser: Browser;
  readonly page: Page;
  readonly site: Site;
  readonly url: string;
  /** Errors that the page has not caught. */
  readonly errors: string[] = [];
  readonly #close: () => void;

  private constructor(browser: Browser, page: Page, site: Site, server: Awaited<ReturnType<typeof serveSite>>) {
    this.browser = browser;
    this.page = page;
    this.site = site;
    this.url = server.url;
    this.#close = server.close;
    page.on("pageerror", (error) => this.errors.push(error.message));
  }

  /** Opens the page in Chromium. */
  static async open(): Promise<PlaygroundPage> {
    const site = buildSite();
    const server = await serveSite(site);
    const browser = await chromium.launch({ executablePath: chromiumPath!, args: ["--no-sandbox"] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    const own = new PlaygroundPage(browser, page, site, server);
    await page.goto(server.url);
    await page.locator(".cm-line").first().waitFor();
    return own;
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.#close();
    this.site.remove();
    expect(this.errors).toEqual([]);
  }

  get status(): Promise<string | null> {
    return this.page.locator(".output .status").textContent();
  }

  /** What the time bar says of the present step. */
  get now(): Promise<string | null> {
    return this.page.locator(".time-bar .instruction").textContent();
  }

  async run(): Promise<void> {
    await this.page.getByRole("button", { name: "Run", exact: true }).click();
    await this.finished();
  }

  /** Waits until nothing runs. */
  async finished(): Promise<void> {
    await this.page.locator("button.stop").waitFor({ state: "hidden", timeout: patience });
  }

  async show(view: string): Promise<void> {
    await this.page.getByRole("tab", { name: view }).click();
  }

  /** Opens an example of the gallery. */
  async example(id: string, title: string): Promise<void> {
    await this.page.goto(`${this.url}#e=${id}`);
    await eventually(() => this.page.locator(".bar .title").textContent()).toBe(title);
    // Its tour comes last, and shows its first step in the editor.
    await this.page.locator(".tour").waitFor({ timeout: patience });
  }

  /** Drops files on the page. */
  async drop(files: readonly Dropped[]): Promise<void> {
    await this.page.evaluate(`{
      const transfer = new DataTransfer();
      for (const { name, bytes } of ${JSON.stringify(files)}) transfer.items.add(new File([new Uint8Array(bytes)], name));
      document.querySelector("#app").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
    }`);
  }

  /**
   * Replaces the text of the file that is shown. By the keyboard, as a user would: what `fill` selects is not yet known
   * to the editor, which takes it back if it learns the text's colours just then, and both texts are there.
   */
  async write(text: string): Promise<void> {
    await this.page.locator(".cm-content").focus();
    await this.page.keyboard.press("ControlOrMeta+a");
    await this.page.keyboard.insertText(text);
  }

  /** Chooses a file, or the settings of the launch. */
  async file(name: string): Promise<void> {
    await this.page.getByRole("group", { name: "Files" }).getByRole("button", { name, exact: true }).click();
  }
}

/** Keeps the playground open in Chromium while the tests of a suite run. */
export function whileOpen(opened: (playground: PlaygroundPage) => void): void {
  let playground: PlaygroundPage | undefined;
  beforeAll(async () => {
    playground = await PlaygroundPage.open();
    opened(playground);
  }, patience);
  afterAll(() => playground?.close());
}
