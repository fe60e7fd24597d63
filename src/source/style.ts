/** What a piece of output is; a style says how that looks. */
export type Role = "error" | "warning" | "note" | "help" | "gutter" | "strong" | "faint";

export type Style = (role: Role, text: string) => string;

export const plainStyle: Style = (_role, text) => text;

const codes: Readonly<Record<Role, string>> = {
  error: "1;31",
  warning: "1;33",
  note: "1;36",
  help: "1;32",
  gutter: "34",
  strong: "1",
  faint: "2",
};

export const colorStyle: Style = (role, text) => (text === "" ? "" : `\x1b[${codes[role]}m${text}\x1b[0m`);
