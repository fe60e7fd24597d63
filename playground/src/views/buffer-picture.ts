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

/** The size of a picture in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** How many elements make a pixel: one, as a shade of a scale or as four bytes, or one for each channel. */
type Pixels = "scale" | "bytes" | 1 | 3 | 4;

const pixelNames: Readonly<Record<Pixels, string>> = {
  scale: "a colour scale",
  bytes: "RGBA in each",
  1: "gray",
  3: "RGB",
  4: "RGBA",
};

/** The largest value of elements that are channels of pixels: floats are from 0 to 1. */
const largest: Readonly<Partial<Record<BufferValues["type"], number>>> = {
  ...{ u8: 255, u16: 65535, f16: 1, f32: 1, f64: 1 },
};

const pixelsFor = (type: BufferValues["type"]): readonly Pixels[] => [
  "scale",
  ...(largest[type] === undefined ? [] : ([1, 3, 4] as const)),
  ...(type === "u32" || type === "s32" ? (["bytes"] as const) : []),
];

/** The colours of pixels, for `ImageData`. */
function colorsOf(values: Float64Array, pixels: Pixels, most: number): Uint8ClampedArray {
  if (pixels === "bytes") {
    return new Uint8ClampedArray(Uint32Array.from(values, (value) => value >>> 0).buffer);
  }
  if (pixels === "scale") return scaled(values);
  const count = Math.ceil(values.length / pixels);
  const colors = new Uint8ClampedArray(4 * count).fill(255);
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < Math.max(3, pixels); c++) {
      colors[4 * i + c] = (255 * (values[i * pixels + (pixels === 1 ? 0 : c)] ?? 0)) / most;
    }
  }
  return colors;
}

/** From blue over green to yellow, each step lighter than the one before; what is no finite number is red. */
function scaled(values: Float64Array): Uint8ClampedArray {
  const { low, high } = rangeOf(values);
  const colors = new Uint8ClampedArray(4 * values.length);
  values.forEach((value, i) => {
    const t = high > low ? (value - low) / (high - low) : 0;
    const color = Number.isFinite(value)
      ? [68 + 187 * t ** 2, 20 + 210 * t ** 0.8, 90 + 90 * Math.sin(2.6 * t)]
      : [180, 30, 30];
    colors.set([...color, 255], 4 * i);
  });
  return colors;
}

/** A buffer as a picture, in rows of a width and with pixels of a kind that one chooses. */
export function pictureOf(buffer: BufferValues, sizes: readonly PictureSize[]): HTMLElement {
  const values = numbersOf(buffer);
  const { low, high } = rangeOf(values);
  const kinds = pixelsFor(buffer.type);
  const elementsOf = (pixels: Pixels): number => (typeof pixels === "number" ? pixels : 1);
  // As large as one of the pictures: it is one, too.
  const like = sizes.flatMap(({ width, height }) => {
    const pixels = [4, 3, 1, "bytes"] as const;
    return pixels
      .filter((kind) => kinds.includes(kind) && width * height * elementsOf(kind) === values.length)
      .map((kind) => ({ width, kind: kind as Pixels }));
  })[0];
  const canvas = h("canvas", {
    class: "picture",
    role: "img",
    "aria-label": `${buffer.name} as a picture, from ${low} to ${high}`,
  });
  const kind = h(
    "select",
    { "aria-label": `Pixels of ${buffer.name}`, onchange: () => draw() },
    kinds.map((each) => h("option", { value: each, selected: each === like?.kind }, pixelNames[each])),
  );
  const chosen = (): Pixels => kinds[kind.selectedIndex] ?? "scale";
  const square = (): number => Math.max(1, Math.round(Math.sqrt(values.length / elementsOf(chosen()))));
  const input = h("input", {
    type: "number",
    min: 1,
    max: 16384,
    value: like?.width ?? square(),
    oninput: () => draw(),
  });
  const draw = (): void => {
    const width = Math.max(1, Math.min(16384, Math.floor(Number(input.value)) || square()));
    const colors = colorsOf(values, chosen(), largest[buffer.type] ?? 1);
    const height = Math.max(1, Math.ceil(colors.length / 4 / width));
    canvas.width = width;
    canvas.height = height;
    const image = new ImageData(width, height);
    image.data.set(colors);
    canvas.getContext("2d")!.putImageData(image, 0, 0);
  };
  draw();
  return h(
    "div",
    {},
    h(
      "div",
      { class: "picture-bar" },
      h("label", { class: "check" }, "pixels in a row", input),
      kinds.length > 1 && kind,
      h("span", { class: "faint" }, `from ${low} to ${high}`),
    ),
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
