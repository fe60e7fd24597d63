import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/*
 * Firefox through Marionette, the protocol that every Firefox has and geckodriver speaks: messages
 * `length:[0, id, command, parameters]` and answers `length:[1, id, error, result]` over TCP. Playwright needs a newer
 * Firefox than Debian's long-term release.
 */

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The key under which WebDriver returns an element. */
const elementKey = "element-6066-11e4-a52e-4f735466cecf";

/** What WebDriver calls keys. */
export const keys = { right: "\uE014" } as const;

/** A Firefox with one page. */
export class Firefox {
  readonly #process: ChildProcess;
  readonly #socket: Socket;
  readonly #profile: string;
  readonly #waiting = new Map<number, Waiting>();
  #received = Buffer.alloc(0);
  #ids = 0;

  private constructor(process: ChildProcess, socket: Socket, profile: string) {
    this.#process = process;
    this.#socket = socket;
    this.#profile = profile;
    socket.on("data", (data) => this.#take(data));
  }

  /** Starts a Firefox without a window. */
  static async open(executable: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "lanewise-firefox-"));
    const port = await freePort();
    writeFileSync(join(profile, "user.js"), `user_pref("marionette.port", ${port});\n`);
    const args = ["--marionette", "--headless", "--no-remote", "--profile", profile, "about:blank"];
    const process = spawn(executable, args, { stdio: "ignore" });
    const firefox = new Firefox(process, await connected(port, process), profile);
    await firefox.#call("WebDriver:NewSession", { capabilities: {} });
    await firefox.#call("WebDriver:SetTimeouts", { script: 60_000, pageLoad: 120_000 });
    return firefox;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#socket.destroy();
    this.#process.kill();
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async go(url: string): Promise<void> {
    await this.#call("WebDriver:Navigate", { url });
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { value } = (await this.#call("WebDriver:ExecuteScript", { script: `return ${expression}`, args: [] })) as {
      value: unknown;
    };
    return value;
  }

  /** The text of the first element of a selector; "" if there is none. */
  async text(selector: string): Promise<string> {
    return String(await this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`));
  }

  async click(selector: string): Promise<void> {
    await this.#call("WebDriver:ElementClick", { id: await this.#find(selector) });
  }

  /** Types into an element. */
  async type(selector: string, text: string): Promise<void> {
    await this.#call("WebDriver:ElementSendKeys", { id: await this.#find(selector), text });
  }

  async #find(selector: string): Promise<string> {
    const found = (await this.#call("WebDriver:FindElement", { using: "css selector", value: selector })) as {
      value: Record<string, string>;
    };
    return found.value[elementKey]!;
  }

  #call(command: string, parameters: object): Promise<unknown> {
    const id = ++this.#ids;
    const message = JSON.stringify([0, id, command, parameters]);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${Buffer.byteLength(message)}:${message}`);
    });
  }

  #take(data: Buffer): void {
    this.#received = Buffer.concat([this.#received, data]);
    for (;;) {
      const colon = this.#received.indexOf(":");
      const length = Number(this.#received.subarray(0, Math.max(0, colon)).toString());
      if (colon < 0 || this.#received.length < colon + 1 + length) return;
      const message = JSON.parse(this.#received.subarray(colon + 1, colon + 1 + length).toString()) as unknown;
      this.#received = this.#received.subarray(colon + 1 + length);
      // Firefox introduces itself with an object.
      if (Array.isArray(message)) this.#answer(message as [1, number, { message: string } | null, unknown]);
    }
  }

  #answer([, id, error, result]: [1, number, { readonly message: string } | null, unknown]): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === null) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** A connection to a Firefox that is about to listen. */
async function connected(port: number, firefox: ChildProcess): Promise<Socket> {
  for (;;) {
    if (firefox.exitCode !== null) throw new Error(`Firefox has ended with status ${firefox.exitCode}`);
    const socket = await new Promise<Socket | null>((resolve) => {
      const tried = connect(port, "127.0.0.1", () => resolve(tried));
      tried.once("error", () => resolve(null));
    });
    if (socket !== null) return socket;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
