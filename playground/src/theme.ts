const key = "lanewise-theme";

/** Applies the theme that was chosen on an earlier visit; without one, that of the system holds. */
export function applyTheme(): void {
  const chosen = localStorage.getItem(key);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
}

/** Goes from light to dark or back, and keeps the choice. */
export function chooseTheme(): void {
  const { dataset } = document.documentElement;
  const dark =
    dataset["theme"] === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : dataset["theme"] === "dark";
  dataset["theme"] = dark ? "light" : "dark";
  localStorage.setItem(key, dataset["theme"]);
}
