// Starts `lanewise dap` for debug sessions, and adds what the protocol has no buttons for: lanes, times, last writes.
"use strict";
const vscode = require("vscode");

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

exports.activate = (context) => {
  const factory = {
    createDebugAdapterDescriptor: (session) => {
      const words = vscode.workspace.getConfiguration("lanewise", session.workspaceFolder).get("command");
      const [command = "lanewise", ...args] = Array.isArray(words) ? words : [];
      const cwd = session.workspaceFolder?.uri.fsPath;
      return new vscode.DebugAdapterExecutable(command, [...args, "dap"], cwd === undefined ? {} : { cwd });
    },
  };
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("lanewise", factory),
    vscode.commands.registerCommand("lanewise.lanes", () => inSession(pickLane)),
    vscode.commands.registerCommand("lanewise.goTo", () => inSession(goTo)),
    vscode.commands.registerCommand("lanewise.lastWrite", () => inSession(lastWrite)),
  );
};

exports.deactivate = () => {};
