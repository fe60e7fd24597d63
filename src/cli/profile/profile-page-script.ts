/**
 * The script of a profile's page: zooms the call tree, shades the source by another count, draws the timeline and lets
 * the user navigate it. It is text because it runs in the page.
 */
export const profileScript = `"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const hueOf = (name) => { let h = 7; for (const c of name) h = (h * 31 + c.codePointAt(0)) % 360; return h; };

for (const flame of document.querySelectorAll(".flame")) {
  const part = (b) => [Number(b.style.getPropertyValue("--x")), Number(b.style.getPropertyValue("--w"))];
  const zoom = (button) => {
    const [x0, w0] = button ? part(button) : [0, 1];
    flame.style.setProperty("--x0", x0);
    flame.style.setProperty("--w0", w0);
    for (const b of flame.children) {
      const [x, w] = part(b), left = Math.max(x, x0), shown = Math.min(x + w, x0 + w0) - left;
      b.hidden = shown <= 1e-9;
      b.style.setProperty("--left", left);
      b.style.setProperty("--shown", shown);
    }
  };
  const detail = flame.closest("section").querySelector(".detail");
  const tell = (event) => { if (event.target.title) detail.textContent = event.target.title; };
  flame.addEventListener("click", (e) => { if (e.target !== flame) zoom(e.target); });
  flame.addEventListener("pointerover", tell);
  flame.addEventListener("focusin", tell);
  flame.addEventListener("keydown", (e) => { if (e.key === "Escape") zoom(null); });
  flame.closest("section").querySelector("button.all").addEventListener("click", () => zoom(null));
}

const metric = document.getElementById("metric");
const shade = () => {
  for (const table of document.querySelectorAll(".source")) {
    table.querySelector(".count").textContent = metric.value;
    const rows = [...table.querySelectorAll("tr[data-v]")];
    const values = rows.map((row) => Number(row.dataset.v.split(" ")[metric.selectedIndex]));
    const max = Math.max(1, ...values);
    rows.forEach((row, i) => {
      row.style.setProperty("--h", values[i] / max);
      row.querySelector(".heat").textContent = values[i] ? values[i].toLocaleString("en") : "";
    });
  }
};
const showHottest = () => {
  for (const file of document.querySelectorAll(".file")) {
    const rows = [...file.querySelectorAll("tr[data-v]")];
    const heat = (row) => Number(row.style.getPropertyValue("--h"));
    const hottest = rows.reduce((best, row) => (heat(row) > heat(best) ? row : best), rows[0]);
    file.scrollTop = hottest.offsetTop - file.clientHeight / 3;
  }
};
metric.addEventListener("change", () => { shade(); showHottest(); });
shade();
showHottest();

const section = document.getElementById("timeline");
if (section) {
  const canvas = section.querySelector("canvas"), detail = section.querySelector(".detail"), choice = section.querySelector("select");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const eventColors = { diverge: "#e0701a", reconverge: "#1d9a4a", call: "#2f6fde", return: "#8a8f98" };
  let line, from, to, selected;
  const ends = () => line.stretches.at(-1)?.to ?? 1;
  const eventAt = (i) => {
    const a = line.stretches[i - 1], b = line.stretches[i];
    if (!a) return null;
    if (b.depth > a.depth) return "call";
    if (b.depth < a.depth) return "return";
    if (b.mask !== a.mask && (b.mask & a.mask) === a.mask) return "reconverge";
    return b.mask !== a.mask ? "diverge" : null;
  };
  const clamp = () => {
    const span = Math.min(Math.max(to - from, 8), Math.max(ends(), 8));
    from = Math.max(0, Math.min(from, ends() - span));
    to = from + span;
  };
  const draw = () => {
    clamp();
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, lanes = line.width, row = width < 500 ? 7 : 9;
    const left = 26, top = 20, height = top + lanes * row + 18;
    canvas.style.height = height + "px";
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    const style = getComputedStyle(document.body), x = (t) => left + ((t - from) / (to - from)) * (width - left);
    c.font = "10px system-ui, sans-serif";
    c.fillStyle = style.getPropertyValue("color");
    for (let lane = 0; lane < lanes; lane += 4) c.fillText(String(lane), 4, top + lane * row + row);
    c.save();
    c.beginPath();
    c.rect(left, 0, width - left, height);
    c.clip();
    line.stretches.forEach((s, i) => {
      if (s.to < from || s.from > to) return;
      const x0 = x(s.from), w = Math.max(1, x(s.to) - x0 - (x(s.to) - x0 > 4 ? 1 : 0));
      c.fillStyle = "hsl(" + hueOf(s.function) + (dark.matches ? " 45% 48%)" : " 62% 62%)");
      for (let lane = 0; lane < lanes; ) {
        if (!((s.mask >>> lane) & 1)) { lane++; continue; }
        let end = lane;
        while (end < lanes && (s.mask >>> end) & 1) end++;
        c.fillRect(x0, top + lane * row, w, (end - lane) * row - 1);
        lane = end;
      }
      const event = eventAt(i);
      if (event) {
        c.fillStyle = eventColors[event];
        c.fillRect(x0, 4, Math.max(1.5, Math.min(3, w)), 12);
        if (w > 34) c.fillText(event, x0 + 5, 14);
      }
      if (i === selected) {
        c.strokeStyle = style.getPropertyValue("color");
        c.lineWidth = 2;
        c.strokeRect(x0, top - 1, Math.max(w, 3), lanes * row + 1);
      }
    });
    c.restore();
    c.fillStyle = style.getPropertyValue("color");
    c.fillText(Math.round(from).toLocaleString("en"), left, height - 4);
    const text = Math.round(to).toLocaleString("en") + " warp-instructions";
    c.fillText(text, width - c.measureText(text).width - 4, height - 4);
  };
  const bits = (mask) => { let n = 0; for (let m = mask >>> 0; m; m >>>= 1) n += m & 1; return n; };
  const lanesOf = (mask) => {
    const parts = [];
    for (let i = 0; i < 32; i++) {
      if (!((mask >>> i) & 1)) continue;
      let j = i;
      while (j < 31 && (mask >>> (j + 1)) & 1) j++;
      parts.push(i === j ? String(i) : i + "-" + j);
      i = j;
    }
    return parts.join(", ");
  };
  const select = (i) => {
    if (!line.stretches[i]) return;
    selected = i;
    const s = line.stretches[i], event = eventAt(i);
    detail.textContent = (event ? event + ": " : "") + s.function + ", line" + (s.firstLine === s.lastLine ? " " + s.firstLine : "s " + s.firstLine + " to " + s.lastLine) +
      ", " + bits(s.mask) + " of " + bits(line.lanes) + " lanes (" + lanesOf(s.mask) + "), warp-instructions " + s.from.toLocaleString("en") + " to " + (s.to - 1).toLocaleString("en");
    draw();
  };
  const scale = (by, at = (from + to) / 2) => {
    [from, to] = [at - (at - from) * by, at + (to - at) * by];
    draw();
  };
  const pan = (by) => { const d = (to - from) * by; from += d; to += d; draw(); };
  const all = () => { from = 0; to = ends(); draw(); };
  const step = (by) => {
    const next = Math.max(0, Math.min(line.stretches.length - 1, selected + by));
    const s = line.stretches[next];
    if (s.from < from || s.to > to) { const span = to - from; from = s.from - span / 4; to = from + span; }
    select(next);
  };
  const timeAt = (e) => {
    const box = canvas.getBoundingClientRect();
    return from + ((e.clientX - box.left - 26) / (box.width - 26)) * (to - from);
  };
  const indexAt = (t) => line.stretches.findIndex((s) => t >= s.from && t < s.to);
  const open = () => { line = data.timelines[choice.selectedIndex]; selected = -1; all(); };
  const actions = { in: () => scale(0.5), out: () => scale(2), earlier: () => pan(-0.5), later: () => pan(0.5), all };
  for (const b of section.querySelectorAll("button[data-do]")) b.addEventListener("click", () => actions[b.dataset.do]());
  const keys = { "+": actions.in, "=": actions.in, "-": actions.out, "0": all, Home: all, ArrowLeft: () => step(-1), ArrowRight: () => step(1) };
  canvas.addEventListener("keydown", (e) => { if (keys[e.key]) { keys[e.key](); e.preventDefault(); } });
  let drag = null;
  canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, from, to, moved: false }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    const d = ((drag.x - e.clientX) / (canvas.clientWidth - 26)) * (drag.to - drag.from);
    if (Math.abs(drag.x - e.clientX) > 4) drag.moved = true;
    if (drag.moved) { from = drag.from + d; to = drag.to + d; draw(); }
  });
  canvas.addEventListener("pointerup", (e) => { if (drag && !drag.moved) select(indexAt(timeAt(e))); drag = null; });
  canvas.addEventListener("wheel", (e) => { if (e.ctrlKey || e.shiftKey) { scale((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, timeAt(e)); e.preventDefault(); } }, { passive: false });
  choice.addEventListener("change", open);
  addEventListener("resize", draw);
  dark.addEventListener("change", draw);
  open();
}
`;
