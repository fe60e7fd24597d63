import { readFileSync } from "node:fs";
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

/** An editor as far as the extension knows it, with `client` as its session. */
function editor(client: DapClient) {
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
    workspace: { getConfiguration: () => ({ get: () => ["node", "main.js"] }) },
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
  const exports: { activate?: (context: { subscriptions: unknown[] }) => void } = {};
  new Function("require", "exports", readFileSync(file, "utf8"))(() => vscode, exports);
  const subscriptions: unknown[] = [];
  exports.activate!({ subscriptions });
  return { commands, factories, errors, answers, subscriptions };
}

test("the extension starts the adapter, and its commands do what the protocol has no buttons for", async () => {
  const client = new DapClient();
  const { commands, factories, errors, answers, subscriptions } = editor(client);
  expect(subscriptions).toHaveLength(1 + commands.size);
  const manifest = JSON.parse(readFileSync(new URL("package.json", file), "utf8")) as {
    contributes: { commands: { command: string }[] };
  };
  expect([...commands.keys()]).toEqual(manifest.contributes.commands.map(({ command }) => command));
  const session = { workspaceFolder: { uri: { fsPath: "/somewhere" } } };
  expect(factories.get("lanewise")!.createDebugAdapterDescriptor(session)).toEqual({
    command: "node",
    args: ["main.js", "dap"],
    options: { cwd: "/somewhere" },
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
