/** Colours of functions, in the order in which they are first seen: on light and on dark ground. */
const light = [
  "#3f6ea8",
  "#c4640c",
  "#2a8a57",
  "#a83f8c",
  "#6a5acd",
  "#9a7b00",
  "#0f8a94",
  "#c23b45",
  "#5f7f1e",
  "#7a5a44",
];
const dark = [
  "#6aa8f0",
  "#f5a04c",
  "#5fcf95",
  "#e58bd0",
  "#a99bff",
  "#d9bd3f",
  "#4fcbd6",
  "#ff8a8f",
  "#a9cf5c",
  "#c9a489",
];

/** Whether the page is shown on dark ground. */
export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}

/** Gives each function a colour and keeps it. */
export class Hues {
  readonly #names: string[] = [];

  of(name: string): string {
    if (!this.#names.includes(name)) this.#names.push(name);
    const hues = isDark() ? dark : light;
    return hues[this.#names.indexOf(name) % hues.length]!;
  }

  get names(): readonly string[] {
    return this.#names;
  }
}
