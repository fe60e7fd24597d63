const code = (text) => `\`${text}\``;

const since = ({ since: version, target }) =>
  [version && `PTX ${version}`, target && [target].flat().join(", ")].filter(Boolean).join(", ");

/** The chapters of section 9.7 of the PTX manual, with their titles, as the page on what is supported lists them. */
const chaptersIn = (support) =>
  [...support.matchAll(/^\| (9\.7\.\d+) \| (.*?) \|/gm)].map(([, section, title]) => [
    section,
    title[0].toUpperCase() + title.slice(1),
  ]);

/** A page for each of these chapters, and one that lists them. `support` is the text of docs/support.md. */
export function* ptxPages(instructions, support) {
  const rows = [];
  for (const [section, title] of chaptersIn(support)) {
    const own = instructions.filter((i) => `${i.section}.`.startsWith(`${section}.`));
    const path = `ptx-${section.replaceAll(".", "-")}.md`;
    rows.push(`| ${section} | [${title}](${path}) | ${own.map(({ name }) => code(name)).join(" ")} |`);
    yield [path, `# ${title} (${section})\n\n${own.map(instruction).join("\n")}`];
  }
  yield ["ptx.md", `# Instructions of PTX\n\n| section | | |\n| --- | --- | --- |\n${rows.join("\n")}\n`];
}

function instruction({ name, section, summary, forms }) {
  return `## ${name} (${section})\n\n${summary[0].toUpperCase()}${summary.slice(1)}.\n\n${forms.map(form).join("\n")}`;
}

function form({ text, gate, modifiers, executable, note, obstacle, reason }) {
  const choices = modifiers
    .filter(({ choices: list }) => list !== undefined)
    .map(({ name, choices: list }) => `| ${code(name)} | ${list.map(choice).join(" ")} |`);
  const table = choices.length === 0 ? "" : `\n| modifier | |\n| --- | --- |\n${choices.join("\n")}\n`;
  const needs = since(gate);
  const state = executable ? "" : ` Not executable${(obstacle ?? reason) ? `: ${obstacle ?? reason}` : ""}.`;
  return `\`\`\`ptx\n${text}\n\`\`\`\n\n${needs === "" ? "" : `Since ${needs}.`}${state}${note ? ` Note: ${note}.` : ""}\n${table}`;
}

function choice({ name, ...gate }) {
  const needs = since(gate);
  return needs === "" ? code(name) : `${code(name)} (${needs})`;
}

/** The instructions of vISA, in the order of their opcodes. */
export function visaPage(instructions) {
  const row = ({ opcode, mnemonic, title, text, executable }) =>
    `| 0x${opcode.toString(16).padStart(2, "0")} | ${code(mnemonic)} | ${title} | ${code(text.replaceAll("|", "\\|"))} | ${executable ? "yes" : "no"} |`;
  const rows = [...instructions].sort((a, b) => a.opcode - b.opcode).map(row);
  return `# Instructions of vISA

\`E\` stands for the mask and the number of channels, as in \`(M1, 16)\`; \`(P)\` for a predicate.

| opcode | | | text | executed |
| --- | --- | --- | --- | --- |
${rows.join("\n")}
`;
}
