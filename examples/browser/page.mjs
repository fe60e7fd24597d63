import { Device, LoadError, renderDiagnostic } from "lanewise";

const element = (id) => document.getElementById(id);
const [canvas, source, status, problem, button] = ["picture", "ptx", "status", "problem"]
  .map(element)
  .concat(document.querySelector("button"));
const side = canvas.width;
const view = { x: -0.625, y: 0, width: 2.75 };

/** Says what is wrong, or (null) that nothing is. */
function complain(text) {
  problem.hidden = text === null;
  problem.textContent = text ?? "";
}

async function run() {
  complain(null);
  const number = (id) => Math.max(1, Math.floor(Number(element(id).value)) || 1);
  const limit = number("limit");
  const started = performance.now();
  const device = new Device({ engine: element("engine").value, hostThreads: number("threads") });
  const module = device.load({ path: "mandelbrot.ptx", text: source.value });
  const out = device.buffer("s32", side * side);
  const loaded = performance.now();
  const [x, y] = [view.x - view.width / 2, view.y - view.width / 2];
  const result = await module.kernel("mandelbrot").launchAsync({
    grid: [Math.ceil(side / 16), Math.ceil(side / 8)],
    block: [16, 8],
    args: [side, x, y, view.width / side, limit, out],
  });
  if (!result.ok) {
    complain(result.reports.map((report) => renderDiagnostic(report)).join("\n\n"));
    return "The kernel has failed.";
  }
  draw(out.read(), limit);
  const who = result.engine === "jit" ? "compiled" : "interpreter";
  const threads = `${result.hostThreads} thread${result.hostThreads === 1 ? "" : "s"} of this machine`;
  const read = (loaded - started).toFixed(0);
  return `${result.threads.toLocaleString("en")} GPU threads in ${result.milliseconds.toFixed(0)} ms (${who}, ${threads}); read in ${read} ms`;
}

/** Escape times as colors: what does not escape is black. */
function draw(times, limit) {
  const image = new ImageData(side, side);
  times.forEach((time, i) => {
    const t = time >= limit ? 0 : Math.sqrt(time / limit);
    const color = time >= limit ? [0, 0, 0] : [255 * t ** 0.6, 255 * t ** 1.1, 90 + 165 * Math.sin(Math.PI * t)];
    image.data.set([...color, 255], 4 * i);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}

async function show() {
  button.disabled = true;
  status.textContent = "Running…";
  // So that this is seen before a launch that keeps the page busy.
  await new Promise((resolve) => setTimeout(resolve, 20));
  try {
    status.textContent = await run();
  } catch (error) {
    if (error instanceof LoadError) complain(error.diagnostics.map((d) => renderDiagnostic(d)).join("\n\n"));
    else complain(error.message);
    status.textContent = "The kernel could not be started.";
  }
  button.disabled = false;
}

element("controls").addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
canvas.addEventListener("click", ({ offsetX, offsetY, shiftKey }) => {
  view.x += (offsetX / canvas.clientWidth - 0.5) * view.width;
  view.y += (offsetY / canvas.clientHeight - 0.5) * view.width;
  view.width *= shiftKey ? 3 : 1 / 3;
  show();
});
// Without isolation a page has no threads.
element("threads").value = globalThis.crossOriginIsolated ? Math.min(8, navigator.hardwareConcurrency) : 1;
element("threads").disabled = !globalThis.crossOriginIsolated;
source.value = await (await fetch("/bench/kernels/mandelbrot.ptx")).text();
await show();
