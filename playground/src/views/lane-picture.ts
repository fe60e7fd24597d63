import type { LaneGroupView } from "../engine/protocol.ts";
import { type Hues, isDark } from "./hues.ts";
import { type HistorySpan, lanesIn, type WarpHistory } from "./warp-history.ts";

export interface PictureLayout {
  /** The size of the canvas in CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly rowHeight: number;
  /** The steps that are shown: from the first up to the last, which need not be whole. */
  readonly from: number;
  readonly to: number;
}

interface Bar {
  readonly row: number;
  readonly rows: number;
  readonly group: LaneGroupView;
}

/** Draws the lanes of a warp against its steps. */
export class LanePicture {
  readonly history: WarpHistory;
  readonly hues: Hues;
  readonly order: readonly number[];
  readonly #rows: readonly number[];
  readonly #bars = new Map<number, readonly Bar[]>();

  constructor(history: WarpHistory, hues: Hues, order: readonly number[]) {
    this.history = history;
    this.hues = hues;
    this.order = order;
    const rows = new Array<number>(32).fill(-1);
    order.forEach((lane, row) => {
      rows[lane] = row;
    });
    this.#rows = rows;
    for (const name of history.functions) hues.of(name);
  }

  draw(canvas: HTMLCanvasElement, layout: PictureLayout): void {
    const ratio = Math.min(3, devicePixelRatio || 1);
    canvas.width = Math.round(layout.width * ratio);
    canvas.height = Math.round(layout.height * ratio);
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, layout.width, layout.height);
    this.#rowsAndLabels(pen, layout);
    pen.save();
    pen.beginPath();
    pen.rect(layout.left, 0, layout.width - layout.left, layout.height);
    pen.clip();
    for (const span of this.#visible(layout)) this.#span(pen, layout, span);
    this.#marks(pen, layout);
    pen.restore();
  }

  #visible({ from, to }: PictureLayout): HistorySpan[] {
    return this.history.spans.filter((span) => span.to > from && span.from < to);
  }

  #rowsAndLabels(pen: CanvasRenderingContext2D, { left, top, rowHeight, width }: PictureLayout): void {
    const ink = isDark() ? "#9aa8b7" : "#566573";
    pen.font = `${Math.min(11, rowHeight)}px ui-monospace, monospace`;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    this.order.forEach((lane, row) => {
      const y = top + row * rowHeight;
      pen.fillStyle = isDark() ? "#ffffff08" : "#0000000a";
      pen.fillRect(left, y, width - left, rowHeight - 1);
      pen.fillStyle = ink;
      if (rowHeight >= 10 || row % 2 === 0) pen.fillText(String(lane), left - 6, y + rowHeight / 2);
    });
  }

  #span(
    pen: CanvasRenderingContext2D,
    { left, top, rowHeight, width, from, to }: PictureLayout,
    span: HistorySpan,
  ): void {
    const scale = (width - left) / (to - from);
    const x = left + (span.from - from) * scale;
    const w = Math.max(1, (span.to - span.from) * scale - (scale > 4 ? 1 : 0));
    const tones = this.#tonesOf(span, { left, scale, width, origin: from });
    for (const { row, rows, group } of this.#barsOf(span)) {
      const y = top + row * rowHeight;
      const height = rows * rowHeight - 1;
      this.#bar(pen, group, { x, y, w, height });
      if (group.state === "runs") {
        for (const tone of tones) {
          // Lighter at the beginning of a function, darker at its end: loops are stripes.
          pen.fillStyle =
            tone.tone < 0.5 ? `rgb(255 255 255 / ${0.2 - 0.4 * tone.tone})` : `rgb(0 0 0 / ${0.36 * tone.tone - 0.18})`;
          pen.fillRect(tone.x, y, Math.min(tone.w, x + w - tone.x), height);
        }
      }
      if (group.state === "runs" && height >= 9) this.#name(pen, group, { x, y, w, height });
    }
  }

  /** Stretches of a span in which the lanes are about equally far down in their function, at least a pixel wide. */
  #tonesOf(
    { from, to }: HistorySpan,
    { left, scale, width, origin }: { left: number; scale: number; width: number; origin: number },
  ): { x: number; w: number; tone: number }[] {
    const { tones, trace } = this.history;
    const found: { x: number; w: number; tone: number }[] = [];
    const stride = Math.max(1, Math.floor(1 / scale));
    for (let step = from; step < to; step += stride) {
      const x = left + (step - origin) * scale;
      const w = stride * scale;
      if (x + w < left || x > width) continue;
      const tone = Math.round(16 * tones[trace.site[step]!]!) / 16;
      const last = found.at(-1);
      if (last !== undefined && last.tone === tone) last.w = x + w - last.x;
      else found.push({ x, w, tone });
    }
    return found;
  }

  #bar(pen: CanvasRenderingContext2D, { state, function: name, depth }: LaneGroupView, { x, y, w, height }: Box): void {
    pen.fillStyle = this.hues.of(name);
    if (state === "runs") {
      pen.fillRect(x, y, w, height);
      // The deeper in a recursion, the darker.
      pen.fillStyle = `rgb(0 0 0 / ${Math.min(0.45, 0.11 * (depth - 1))})`;
      pen.fillRect(x, y, w, height);
      return;
    }
    // Who does not run is pale; a line through the middle: has returned; a dotted one: waits at a barrier.
    pen.globalAlpha = isDark() ? 0.22 : 0.2;
    pen.fillRect(x, y, w, height);
    pen.globalAlpha = 1;
    if (state === "ready") return;
    pen.strokeStyle = this.hues.of(name);
    pen.lineWidth = 1.5;
    pen.setLineDash(state === "waits" ? [2, 3] : []);
    pen.beginPath();
    for (let at = y + Math.min(height, 12) / 2; at < y + height; at += 12) {
      pen.moveTo(x, at);
      pen.lineTo(x + w, at);
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  #name(pen: CanvasRenderingContext2D, { function: name, depth }: LaneGroupView, { x, y, w, height }: Box): void {
    const text = depth > 1 ? `${name} ×${depth}` : name;
    pen.font = `600 ${Math.min(12, Math.max(9, height - 2))}px system-ui, sans-serif`;
    if (pen.measureText(text).width + 10 > w) return;
    pen.fillStyle = isDark() ? "#0b1016" : "#ffffff";
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(text, x + 5, y + Math.min(height, 18) / 2 + 0.5);
  }

  #marks(pen: CanvasRenderingContext2D, { left, top, rowHeight, width, from, to }: PictureLayout): void {
    const scale = (width - left) / (to - from);
    const y = top + this.order.length * rowHeight + 11;
    pen.font = "bold 15px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = isDark() ? "#e3e9f0" : "#14202b";
    let free = -Infinity;
    for (const { step, event } of this.history.marks) {
      if (step < from || step > to) continue;
      const x = left + (step - from) * scale;
      if (x < free) continue;
      free = x + 16;
      pen.fillText(event.kind === "part" ? "≺" : "≻", x, y);
    }
  }

  #barsOf(span: HistorySpan): readonly Bar[] {
    let bars = this.#bars.get(span.arrangement);
    if (bars === undefined) {
      bars = this.history.groups(span).flatMap((group) => this.#barsOfGroup(group));
      this.#bars.set(span.arrangement, bars);
    }
    return bars;
  }

  #barsOfGroup(group: LaneGroupView): Bar[] {
    const rows = lanesIn(group.lanes)
      .map((lane) => this.#rows[lane]!)
      .sort((a, b) => a - b);
    const bars: { row: number; rows: number; group: LaneGroupView }[] = [];
    for (const row of rows) {
      const last = bars.at(-1);
      if (last !== undefined && last.row + last.rows === row) last.rows++;
      else bars.push({ row, rows: 1, group });
    }
    return bars;
  }
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly height: number;
}
