/** A page for each list of codes that `lanewise explain` has. */
export function* diagnosticPages(lanewise) {
  const { codes } = lanewise("explain");
  const pages = lanewise("explain", ...codes.map(({ code }) => code)).codes;
  for (const { path, title, intro, has } of groups) {
    const own = pages.filter(({ code }) => groups.find((group) => group.has(code)).has === has);
    yield [path, `# ${title}\n\n${intro}\n\n${own.map(entry).join("\n")}`];
  }
}

/** In this order: a code belongs to the first that has it. */
const groups = [
  {
    path: "visa-diagnostics.md",
    title: "Errors and warnings of vISA",
    intro:
      "What `lanewise check` and `lanewise asm` say of vISA, and what runs report of it. Codes begin with `visa-`.",
    has: (code) => code.startsWith("visa-"),
  },
  {
    path: "ptx-syntax.md",
    title: "Errors in the text of PTX",
    intro: "What the parser says. Codes begin with `ptx-`.",
    has: (code) => code.startsWith("ptx-"),
  },
  {
    path: "diagnostics.md",
    title: "Errors, warnings and reports of PTX and of runs",
    intro:
      "What the checker, the linker, runs and sanitizers say, and how jobs can be wrong, in the order of `lanewise explain`.",
    has: () => true,
  },
];

const fenced = (text) => `\`\`\`ptx\n${text.trimEnd()}\n\`\`\`\n`;

function entry({ code, title, page, section, example }) {
  const shown = example ? `\nWrong:\n\n${fenced(example.bad)}\nRight:\n\n${fenced(example.good)}` : "";
  const where = section === undefined ? "" : `\n*Section ${section} of the manual*\n`;
  return `## ${code}\n\n**${title}**\n\n${page}\n${shown}${where}`;
}
