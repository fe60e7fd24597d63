/** What a piece of output is. A `Style` decides how it looks. */
export type Role = "error" | "warning" | "note" | "help" | "gutter" | "strong" | "faint";

/**
 * Adds to `text` whatever makes it look like its role, such as escape sequences; printable characters stay the same.
 */
export type Style = (role: Role, text: string) => string;

/** Leaves text as it is. */
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

/** Colours text with ANSI escape sequences (SGR). */
export const colorStyle: Style = (role, text) => (text === "" ? "" : `\x1b[${codes[role]}m${text}\x1b[0m`);
