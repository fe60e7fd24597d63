import { UsageError } from "../runtime/data/errors.ts";
import { nearest } from "../source/index.ts";
import type { Commands } from "./commands.ts";
import type { Command } from "./options/command.ts";
import { commonOptions, describeOptions, optionHead, type OptionSpec } from "./options/options.ts";
import { hang, maxColumns, wrap } from "./terminal/wrap.ts";

/** The only topic of `lanewise help` that is not a command. */
const optionsTopic = "options";

/** The common options that every command has. */
const everywhere: readonly string[] = ["json", "color", "help"];

const columns = (): number => Math.max(40, Math.min(process.stdout.columns ?? maxColumns, maxColumns));

export function commandNamed(commands: Commands, name: string): () => Promise<Command> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command;
  if (name.startsWith("-")) throw new UsageError(`the command comes first: lanewise COMMAND ${name}`);
  const meant = nearest(name, Object.keys(commands));
  throw new UsageError(
    `there is no command "${name}"; ${meant ? `did you mean "${meant}"?` : "`lanewise help` lists them"}`,
  );
}

export async function overview(commands: Commands): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const width = Math.max(...all.map((c) => c.name.length));
  const list = all.map((c) => `  ${c.name.padEnd(width)}  ${hang(c.summary, columns(), width + 4)}`).join("\n");
  return [
    wrap("lanewise: reads, checks and runs GPU assembly on any machine", columns()),
    "usage: lanewise COMMAND [OPTIONS] …",
    list,
    wrap(
      `\`lanewise help COMMAND\` explains a command, \`lanewise help ${optionsTopic}\` describes the common options, ` +
        "`lanewise explain CODE` an error.",
      columns(),
    ),
  ].join("\n\n");
}

/** The help on a command, or on the options that all commands have. */
export async function helpOn(commands: Commands, topic: string): Promise<string> {
  if (topic === optionsTopic) {
    const list = describeOptions(commonOptions, columns());
    return `Options of all commands:\n${list}\n\n${wrap("A file that is read may be -, which is stdin.", columns())}`;
  }
  return commandHelp(await commandNamed(commands, topic)());
}

export function commandHelp(command: Command): string {
  const heading = "usage: ";
  const usage = command.usage.map((line, i) => {
    const text = hang(`lanewise ${line}`, columns(), heading.length + 2);
    return (i === 0 ? heading : " ".repeat(heading.length)) + text;
  });
  const common: readonly OptionSpec[] = commonOptions;
  const meant = common.filter(({ name }) => [...command.common, ...everywhere].includes(name)).map(optionHead);
  const sections = [
    wrap(command.summary, columns()),
    usage.join("\n"),
    ...(command.options.length > 0 ? [`Options:\n${describeOptions(command.options, columns())}`] : []),
    wrap(`Common options: ${meant.join(", ")} (\`lanewise help ${optionsTopic}\` explains them)`, columns()),
    ...(command.details === undefined ? [] : [wrap(command.details, columns())]),
  ];
  return sections.join("\n\n");
}
