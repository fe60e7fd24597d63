// Starts `lanewise dap` for debug sessions, and adds what the protocol has no buttons for: lanes, times, last writes;
// starts the language server, and runs kernels from the lenses above them.
"use strict";
const vscode = require("vscode");
const { startLanguageClient } = require("./client.js");

/** The thread whose stack is looked at; without one, whatever is in focus. */
const threadArguments = () => {
  const item = vscode.debug.activeStackItem;
  return item === undefined ? {} : { threadId: item.threadId };
};

/** Does something in the active session; what goes wrong there is shown. */
async function inSession(action) {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "lanewise") return;
  try {
    await action(session);
  } catch (error) {
    void vscode.window.showErrorMessage(error.message);
  }
}

async function pickLane(session) {
  const thread = threadArguments();
  const { lane, lanes } = await session.customRequest("lanewise/lanes", thread);
  const items = lanes.flatMap(({ mask, state, waitsFor, function: name, line }) =>
    Array.from({ length: 32 }, (_, i) => i)
      .filter((i) => ((mask >>> i) & 1) === 1)
      .map((i) => ({
        lane: i,
        label: `${i === lane ? "$(arrow-right) " : ""}lane ${i}`,
        description: name === null ? state : `${name}:${line}`,
        detail: waitsFor === null ? undefined : `waits for ${waitsFor}`,
      })),
  );
  items.sort((a, b) => a.lane - b.lane);
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "The lane to look at", matchOnDescription: true });
  // The list of frames is asked for again when the lane has changed.
  if (chosen !== undefined) await session.customRequest("lanewise/focus", { ...thread, lane: chosen.lane });
}

async function goTo(session) {
  const { time, frontier, end } = await session.customRequest("lanewise/time");
  const known = end === null ? `seen up to ${frontier}` : `time ends at ${end}`;
  const text = await vscode.window.showInputBox({
    prompt: `A time, in instructions of warps: it is ${time} now, ${known}`,
    value: String(time),
    validateInput: (value) => (/^\d+$/.test(value) ? null : "a number"),
  });
  if (text !== undefined) await session.customRequest("lanewise/goTo", { time: Number(text) });
}

async function lastWrite(session) {
  const expression = await vscode.window.showInputBox({ prompt: "Whose last write? A register, a variable, or [address]:type" });
  if (expression) await session.customRequest("lanewise/lastWrite", { ...threadArguments(), expression });
}

/** The words of a command line; those with blanks are in quotes. */
const wordsOf = (text) => (text.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));

/** Asks for the launch of a kernel as `lanewise run` takes it; what was said last for it is offered again. */
async function askLaunch(context, uri, kernel) {
  const key = `launch ${uri} ${kernel}`;
  const isVisa = /\.(visaasm|isaasm)$/i.test(uri);
  const value = context.workspaceState.get(key) ?? (isVisa ? "--global 16 --local 16" : "--grid 1 --block 32");
  const prompt = `How ${kernel} is launched, as in --block 32 --arg 20 --arg f32[32]=iota`;
  const text = await vscode.window.showInputBox({ prompt, value, ignoreFocusOut: true });
  if (text !== undefined) await context.workspaceState.update(key, text);
  return text === undefined ? null : wordsOf(text);
}

/** What is added to the launch by each lens. */
const lenses = { run: ["run"], profile: ["profile"], sanitize: ["run", "--sanitize", "all"] };

/** Runs a kernel in a terminal. */
async function runKernel(context, commandLine, lens, uri, kernel) {
  const words = await askLaunch(context, uri, kernel);
  if (words === null) return;
  const file = vscode.Uri.parse(uri);
  const { command, args, env } = commandLine(file);
  const [name, ...more] = lenses[lens];
  const all = [...args, name, file.fsPath, "--kernel", kernel, ...words, ...more];
  const execution = new vscode.ProcessExecution(command, all, { env });
  const task = new vscode.Task({ type: "lanewise" }, vscode.TaskScope.Workspace, `${lens} ${kernel}`, "lanewise", execution);
  await vscode.tasks.executeTask(task);
}

/** Debugs a kernel with the launch that is asked for. */
async function debugKernel(context, uri, kernel) {
  const words = await askLaunch(context, uri, kernel);
  if (words === null) return;
  const file = vscode.Uri.parse(uri);
  const launch = { type: "lanewise", request: "launch", name: kernel, program: file.fsPath, kernel, stopOnEntry: true };
  const lists = { arg: "args", symbol: "symbol", input: "input" };
  for (let i = 0; i < words.length; i++) {
    const [, option, given] = /^--([a-z-]+)(?:=(.*))?$/.exec(words[i]) ?? [];
    if (option === undefined) continue;
    const value = given ?? words[++i];
    const list = lists[option];
    if (list === undefined) launch[option] = value;
    else launch[list] = [...(launch[list] ?? []), value];
  }
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(file), launch);
}

exports.activate = (context) => {
  const { commands, commandLine } = startLanguageClient(context);
  const factory = {
    createDebugAdapterDescriptor: (session) => {
      const { command, args, env } = commandLine(session.workspaceFolder);
      const cwd = session.workspaceFolder?.uri.fsPath;
      return new vscode.DebugAdapterExecutable(command, [...args, "dap"], cwd === undefined ? { env } : { cwd, env });
    },
  };
  const fromLens = (lens) => (uri, kernel) => runKernel(context, commandLine, lens, uri, kernel);
  context.subscriptions.push(
    ...commands,
    vscode.debug.registerDebugAdapterDescriptorFactory("lanewise", factory),
    vscode.commands.registerCommand("lanewise.run", fromLens("run")),
    vscode.commands.registerCommand("lanewise.profile", fromLens("profile")),
    vscode.commands.registerCommand("lanewise.sanitize", fromLens("sanitize")),
    vscode.commands.registerCommand("lanewise.debug", (uri, kernel) => debugKernel(context, uri, kernel)),
    vscode.commands.registerCommand("lanewise.lanes", () => inSession(pickLane)),
    vscode.commands.registerCommand("lanewise.goTo", () => inSession(goTo)),
    vscode.commands.registerCommand("lanewise.lastWrite", () => inSession(lastWrite)),
  );
};

exports.deactivate = () => {};
