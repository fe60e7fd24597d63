import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { DapClient } from "../debugger/dap-client.ts";

const file = new URL("../../editors/vscode/extension.js", import.meta.url);

interface Factory {
  createDebugAdapterDescriptor(session: object): { command: string; args: string[]; options: object };
}

interface Item {
  readonly lane: number;
  readonly label: string;
  readonly description: string;
}

/** The servers that were started. */
const servers: { command: string; args: string[] }[] = [];
class Client {
  readonly #run: (typeof servers)[number];
  constructor(_id: string, _name: string, { run }: { run: (typeof servers)[number] }) {
    this.#run = run;
  }
  async start() {
    servers.push(this.#run);
  }
  async stop() {}
}

/** An editor as far as the extension knows it, with `client` as its session. */
function editor(client: DapClient, settings = { command: ["node", "main.js"] }) {
  const commands = new Map<string, () => Promise<void>>();
  const factories = new Map<string, Factory>();
  const errors: string[] = [];
  const answers = { pick: (_: readonly Item[]): Item | undefined => undefined, input: "" };
  const vscode = {
    debug: {
      get activeStackItem() {
        return { threadId: client.last("stopped").threadId };
      },
      activeDebugSession: {
        type: "lanewise",
        customRequest: (command: string, args?: object) => client.request(command, args),
      },
      registerDebugAdapterDescriptorFactory: (type: string, factory: Factory) => void factories.set(type, factory),
    },
    commands: { registerCommand: (name: string, run: () => Promise<void>) => void commands.set(name, run) },
    window: {
      showErrorMessage: (text: string) => void errors.push(text),
      showQuickPick: async (items: readonly Item[]) => answers.pick(items),
      showInputBox: async () => answers.input,
    },
    workspace: {
      getConfiguration: () => ({ get: (name: string) => (name === "command" ? settings.command : true) }),
      onDidChangeConfiguration: () => ({}),
    },
    DebugAdapterExecutable: class {
      readonly command: string;
      readonly args: readonly string[];
      readonly options: object;
      constructor(command: string, args: readonly string[], options: object) {
        this.command = command;
        this.args = args;
        this.options = options;
      }
    },
  };
  /** A module of the extension, with what it requires replaced. */
  const load = (name: string): Record<string, (context: object) => void> => {
    const exports = {};
    const required: Readonly<Record<string, () => object>> = {
      vscode: () => vscode,
      "vscode-languageclient/node": () => ({ LanguageClient: Client, TransportKind: { stdio: 0 } }),
      "node:path": () => path,
      "./client.js": () => load("client.js"),
    };
    const require = (wanted: string): object => required[wanted]!();
    new Function("require", "exports", readFileSync(new URL(name, file), "utf8"))(require, exports);
    return exports;
  };
  const subscriptions: unknown[] = [];
  load("extension.js")["activate"]!({ subscriptions, asAbsolutePath: (inside: string) => `/extension/${inside}` });
  return { commands, factories, errors, answers, subscriptions };
}

test("the extension starts the adapter, and its commands do what the protocol has no buttons for", async () => {
  const client = new DapClient();
  const { commands, factories, errors, answers, subscriptions } = editor(client);
  // The adapter, what watches the settings, and what stops the server.
  expect(subscriptions).toHaveLength(3 + commands.size);
  await expect.poll(() => servers).toMatchObject([{ command: "node", args: ["main.js", "lsp"] }]);
  const manifest = JSON.parse(readFileSync(new URL("package.json", file), "utf8")) as {
    contributes: { commands: { command: string }[] };
  };
  // Those of the lenses need a kernel, and are not in the palette.
  const lenses = ["lanewise.run", "lanewise.profile", "lanewise.sanitize", "lanewise.debug"];
  const shown = [...commands.keys()].filter((name) => !lenses.includes(name));
  expect(shown).toEqual(manifest.contributes.commands.map(({ command }) => command));
  const session = { workspaceFolder: { uri: { fsPath: "/somewhere" } } };
  expect(factories.get("lanewise")!.createDebugAdapterDescriptor(session)).toEqual({
    command: "node",
    args: ["main.js", "dap"],
    options: { cwd: "/somewhere", env: {} },
  });

  await client.launch("calls.json");
  await client.request("setFunctionBreakpoints", { breakpoints: [{ name: "square" }] });
  await client.request("configurationDone");
  const top = async (): Promise<string> => {
    const { stackFrames } = await client.request("stackTrace", { threadId: client.last("stopped").threadId });
    return `${stackFrames[0].name}:${stackFrames[0].line}`;
  };
  expect(await top()).toBe("square:23");
  answers.pick = (items) => {
    expect(items.map(({ lane }) => lane)).toEqual(Array.from({ length: 32 }, (_, lane) => lane));
    expect(items[1]).toMatchObject({ label: "$(arrow-right) lane 1", description: "square:23" });
    return items[4];
  };
  await commands.get("lanewise.lanes")!();
  expect(await top()).toBe("calls:59");
  answers.input = "%y";
  await commands.get("lanewise.lastWrite")!();
  expect(await top()).toBe("calls:46");
  answers.input = "0";
  await commands.get("lanewise.goTo")!();
  expect(client.last("stopped").description).toMatch(/time 0$/);
  expect(errors).toEqual([]);
  answers.input = "((";
  await commands.get("lanewise.lastWrite")!();
  expect(errors).toEqual([expect.stringContaining("expected a value")]);
});

test("without a command in the settings, the extension uses the Lanewise that it brings along", () => {
  const { factories } = editor(new DapClient(), { command: [] });
  expect(factories.get("lanewise")!.createDebugAdapterDescriptor({})).toEqual({
    command: process.execPath,
    args: ["/extension/server/dist/cli/main.js", "dap"],
    options: { env: { ELECTRON_RUN_AS_NODE: "1" } },
  });
});
