const chapters = [
  ["9.7.1", "Integer arithmetic"],
  ["9.7.2", "Extended-precision integer arithmetic"],
  ["9.7.3", "Floating point"],
  ["9.7.4", "Half precision"],
  ["9.7.5", "Mixed precision"],
  ["9.7.6", "Comparison and selection"],
  ["9.7.7", "Half-precision comparison"],
  ["9.7.8", "Logic and shifts"],
  ["9.7.9", "Data movement and conversion"],
  ["9.7.10", "Textures"],
  ["9.7.11", "Surfaces"],
  ["9.7.12", "Control flow"],
  ["9.7.13", "Synchronization, atomics, votes"],
  ["9.7.14", "Matrices in warps"],
  ["9.7.15", "Matrices in warpgroups"],
  ["9.7.16", "Tensor memory"],
  ["9.7.17", "Stack"],
  ["9.7.18", "Video"],
  ["9.7.19", "Miscellaneous"],
];

const code = (text) => `\`${text}\``;

const since = ({ since: version, target }) =>
  [version && `PTX ${version}`, target && [target].flat().join(", ")].filter(Boolean).join(", ");

/** A page for each chapter of section 9.7 of the PTX manual, and one that lists them. */
export function* ptxPages(instructions) {
  const rows = [];
  for (const [section, title] of chapters) {
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
