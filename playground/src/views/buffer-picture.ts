import { fill, h } from "../dom.ts";
import type { BufferValues } from "../engine/protocol.ts";

const numbersOf = ({ after }: BufferValues): Float64Array =>
  Float64Array.from({ length: after.length }, (_, i) => Number(after[i]));

/** The smallest and the largest of the numbers that are finite. */
function rangeOf(values: Float64Array): { readonly low: number; readonly high: number } {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > high ? { low: 0, high: 1 } : { low, high };
}

/** A buffer as a picture: a pixel for each element, from dark to light, in rows of a width that one chooses. */
export function pictureOf(buffer: BufferValues): HTMLElement {
  const values = numbersOf(buffer);
  const { low, high } = rangeOf(values);
  const canvas = h("canvas", {
    class: "picture",
    role: "img",
    "aria-label": `${buffer.name} as a picture, from ${low} to ${high}`,
  });
  const draw = (width: number): void => {
    const height = Math.max(1, Math.ceil(values.length / width));
    canvas.width = width;
    canvas.height = height;
    const image = new ImageData(width, height);
    values.forEach((value, i) => {
      const t = high > low ? (value - low) / (high - low) : 0;
      // From blue over green to yellow, each step lighter than the one before.
      const color = Number.isFinite(value)
        ? [68 + 187 * t ** 2, 20 + 210 * t ** 0.8, 90 + 90 * Math.sin(2.6 * t)]
        : [180, 30, 30];
      image.data.set([...color, 255], 4 * i);
    });
    canvas.getContext("2d")!.putImageData(image, 0, 0);
  };
  const square = Math.max(1, Math.round(Math.sqrt(values.length)));
  const input = h("input", {
    type: "number",
    min: 1,
    max: 16384,
    value: square,
    oninput: () => draw(Math.max(1, Math.min(16384, Math.floor(Number(input.value)) || square))),
  });
  draw(square);
  return h(
    "div",
    {},
    h("label", { class: "check" }, "pixels in a row", input, h("span", { class: "faint" }, `from ${low} to ${high}`)),
    canvas,
  );
}

/** A buffer as a line over its elements. */
export function plotOf(buffer: BufferValues): HTMLElement {
  const values = numbersOf(buffer);
  const { low, high } = rangeOf(values);
  const [width, height] = [800, 200];
  const step = Math.max(1, Math.floor(values.length / (4 * width)));
  const y = (value: number): number => height - ((value - low) / (high - low || 1)) * height;
  let path = "";
  for (let i = 0; i < values.length; i += step) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    path += `${path === "" ? "M" : "L"}${((i / Math.max(1, values.length - 1)) * width).toFixed(1)} ${y(value).toFixed(1)}`;
  }
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 -4 ${width} ${height + 8}`);
  svg.setAttribute("class", "plot");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${buffer.name} as a line, from ${low} to ${high}`);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return h(
    "div",
    { class: "plot-frame" },
    h("span", { class: "faint" }, high),
    svg,
    h("span", { class: "faint" }, low),
  );
}

/** A choice between ways to show a buffer; each is made when it is chosen. */
export function waysToShow(
  name: string,
  ways: Readonly<Record<string, () => HTMLElement>>,
): { choice: HTMLElement; shown: HTMLElement } {
  const shown = h("div", {}, Object.values(ways)[0]!());
  const choice = h(
    "select",
    {
      "aria-label": `How ${name} is shown`,
      onchange: (e: Event) => fill(shown, ways[(e.target as HTMLSelectElement).value]!()),
    },
    Object.keys(ways).map((way) => h("option", { value: way }, way)),
  );
  return { choice, shown };
}
