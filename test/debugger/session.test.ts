import { expect, test } from "vitest";
import { parseHitCondition } from "../../src/debugger/breakpoint.ts";
import { parseExpression } from "../../src/debugger/expression/parse.ts";
import type { Session, StepRequest } from "../../src/debugger/session.ts";
import type { Stop } from "../../src/debugger/stop.ts";
import { assemblyPlace } from "../../src/debugger/view/lane-place.ts";
import { formatValue } from "../../src/debugger/view/value.ts";
import { openSession } from "./jobs.ts";

/** A debugger session on a job, with helpers for tests. */
class Driver {
  readonly session: Session;
  readonly logged: string[] = [];

  constructor(name: string, options: Parameters<typeof openSession>[1] = {}) {
    this.session = openSession(name, { ...options, onLog: (text) => this.logged.push(text) });
  }

  /** The function, the line and the lane in focus. */
  get at(): string {
    const { frame } = this.session.view;
    if (frame === null) return "nowhere";
    const { block, warp, lane } = this.session.focus;
    return `${frame.site.code.ir.name}:${assemblyPlace(frame.site).line} ${block}/${warp}/${lane}`;
  }

  break(text: string, options: Parameters<Session["addBreakpoint"]>[2] = {}): number {
    return this.session.addBreakpoint(text, this.session.locations(text), options).id;
  }

  go(backward = false): Stop {
    return this.session.finish(this.session.continue({ backward }));
  }

  step(kind: StepRequest["kind"] = "into", backward = false): string {
    this.session.finish(this.session.step({ kind, backward }));
    return this.at;
  }

  /** A step with a wider scope than the lane. */
  wide(scope: StepRequest["scope"] & string, kind: StepRequest["kind"] = "into", backward = false): string {
    this.session.finish(this.session.step({ kind, scope, backward }));
    return this.at;
  }

  value(text: string): string {
    return formatValue(this.session.evaluate(text));
  }
}

const focus = (d: Driver, lane: number, warp = 0): void => {
  d.session.focus = { ...d.session.focus, warp, lane, frame: 0 };
};

test("into a divergent call, out of it, and back again", () => {
  const d = new Driver("calls.json");
  d.break("square");
  expect(d.go().reason).toBe("breakpoint");
  expect(d.at).toBe("square:23 0/0/1");
  expect(d.session.view.frames.map((f) => `${f.site.code.ir.name}:${assemblyPlace(f.site).line}`)).toEqual([
    "square:23",
    "calls:54",
  ]);
  expect(d.step()).toBe("square:24 0/0/1");
  expect(d.value("%x")).toBe("1");
  expect(d.step()).toBe("square:25 0/0/1");
  const inside = d.session.now;
  d.session.breakpoints.clear();
  expect(d.step("out")).toBe("calls:55 0/0/1");
  expect(d.step()).toBe("calls:59 0/0/1");
  expect(d.value("%y")).toBe("1");
  expect(d.step("over", true)).toBe("calls:55 0/0/1");
  expect(d.step("over", true)).toBe("calls:54 0/0/1");
  expect(d.step("into", false)).toBe("square:23 0/0/1");
  expect(d.step("out", true)).toBe("calls:54 0/0/1");
  d.session.finish(d.session.goTo(inside));
  expect(d.at).toBe("square:25 0/0/1");
});

test("a step over a call ends when the lane returns, whatever others do meanwhile", () => {
  const d = new Driver("calls.json");
  d.break("44");
  d.go();
  expect(d.at).toBe("calls:44 0/0/0");
  focus(d, 2);
  expect(d.step("over")).toBe("calls:45 0/0/2");
  expect(d.step("over")).toBe("calls:46 0/0/2");
  expect(d.step("over")).toBe("calls:48 0/0/2");
  expect(d.value("%y")).toBe("4");
});

test("steps of a warp follow whichever lanes are next, over calls and out of them too", () => {
  const d = new Driver("calls.json");
  d.break("48");
  d.go();
  d.session.breakpoints.clear();
  // The even lanes wait at the join, and the odd ones run.
  expect(d.step()).toBe("calls:59 0/0/0");
  expect(d.wide("warp")).toBe("calls:54 0/0/1");
  expect(d.wide("warp", "over")).toBe("calls:55 0/0/1");
  expect(d.wide("warp", "over", true)).toBe("calls:54 0/0/1");
  expect(d.wide("warp")).toBe("square:23 0/0/1");
  expect(d.wide("warp", "out")).toBe("calls:55 0/0/1");
  expect(d.wide("warp")).toBe("calls:59 0/0/1");
  d.session.finish(d.session.until("62", "warp"));
  expect(d.at).toBe("calls:62 0/0/1");
  // It waits at the barrier: the block's next instruction is the other warp's, and the warp's next one is after the
  // barrier.
  const { now } = d.session;
  expect(d.wide("block")).toBe("calls:36 0/1/0");
  expect(d.wide("block", "over", true)).toBe("calls:62 0/0/0");
  expect(d.session.now).toBe(now);
  expect(d.wide("warp")).toBe("calls:63 0/0/0");
});

test("a step over a wait ends before the next instruction of the lane, not after it", () => {
  const d = new Driver("calls.json");
  d.break("62");
  d.go();
  d.session.breakpoints.clear();
  // The whole warp waits for the other one.
  expect(d.at).toBe("calls:62 0/0/0");
  expect(d.step()).toBe("calls:63 0/0/0");
  expect(d.step("into", true)).toBe("calls:62 0/0/0");
  // Lane 0 returns at once, and waits for the lanes that recurse to smaller factorials.
  const e = new Driver("factorial.json");
  e.break("factorial");
  e.go();
  e.session.breakpoints.clear();
  expect(e.at).toBe("factorial:11 0/0/0");
  expect(e.step("out")).toBe("compute:41 0/0/0");
  expect(e.value("lane")).toBe("0");
});

test("steps of lanes and blocks that have ended", () => {
  const d = new Driver("tile.json");
  d.break("tile");
  d.go();
  expect(d.at).toBe("tile:12 1/0/0");
  focus(d, 0);
  d.session.focus = { ...d.session.focus, block: 0 };
  expect(() => d.step()).toThrow("the block in focus has ended");
  expect(() => d.session.until(null)).toThrow("the block in focus has ended");
  expect(d.wide("machine")).toBe("tile:13 1/0/0");
});

test("conditions select lanes, hit counts select hits", () => {
  const d = new Driver("calls.json");
  d.break("60", { condition: parseExpression("%t == 37 && warp == 1") });
  expect(d.go().reason).toBe("breakpoint");
  expect(d.at).toBe("calls:60 0/1/5");
  expect(d.value("tid.x")).toBe("37");
  expect(d.value("%y")).toBe(String(37 * 37));
  const e = new Driver("calls.json");
  e.break("twice", { hitCondition: parseHitCondition("3") });
  expect(e.go().breakpoints[0]?.breakpoint.hits).toBe(3);
  expect(e.session.timeline.launch).toEqual({ index: 1, count: 2 });
});

test("a condition without a value stops, and the stop shows the mistake", () => {
  const d = new Driver("calls.json");
  d.break("60", { condition: parseExpression("%nothing == 1") });
  const { breakpoints } = d.go();
  expect(breakpoints[0]?.error?.frame).toBe("there is no %nothing here\n  %nothing == 1\n  ^^^^^^^^");
});

test("messages are printed while time goes forward, and only then", () => {
  const d = new Driver("calls.json");
  d.break("14", { logMessage: "lane {lane} of warp {warp}: {%x}, {[0]}" });
  d.break("68");
  d.go();
  const expected = ["0", "1"].map(
    (w) => `lane 0 of warp ${w}: ${Number(w) * 32}, <there is no readable memory at 0x0>`,
  );
  expect(d.logged).toEqual(expected);
  d.session.finish(d.session.continue({ backward: true }));
  expect(d.logged).toEqual(expected);
});

test("continuing from a breakpoint does not hit it again", () => {
  const d = new Driver("factorial.json");
  const id = d.break("factorial");
  d.break("factorial", { logMessage: "{time}" });
  const times = [1, 2, 3].map(() => d.go().time);
  expect(d.session.breakpoints.get(id)?.hits).toBe(3);
  expect(d.logged).toEqual(times.map(String));
  d.session.finish(d.session.until("factorial+1"));
  expect(d.session.breakpoints.get(id)?.hits).toBe(3);
});

test("nothing can be changed at the end", () => {
  const d = new Driver("calls.json");
  expect(d.go().reason).toBe("end");
  const { start } = d.session.timeline.memory.allocations.find(({ name }) => name.includes("out"))!;
  const address = d.session.execution.grid.addresses.global(start);
  expect(() => d.session.writeMemory(address, Uint8Array.of(1))).toThrow("the program has ended");
  expect(d.go().reason).toBe("end");
});

test("backward to the previous hit", () => {
  const d = new Driver("calls.json");
  d.break("twice");
  d.break("square");
  const seen = [d.go(), d.go(), d.go()].map(({ time }) => time);
  const [first, second] = seen;
  expect(d.go(true).time).toBe(second);
  expect(d.go(true).time).toBe(first);
  expect(d.go(true)).toMatchObject({ reason: "beginning", time: 0 });
  expect(d.go().time).toBe(first);
});

test("a watchpoint on shared memory, both ways", () => {
  const d = new Driver("calls.json");
  d.break("63");
  d.go();
  focus(d, 3);
  // exchange[3] is what thread 3 stored: 9.
  d.session.breakpoints.clear();
  const stop = d.session.finish(d.session.lastWrite("[%at]:u32"));
  expect(stop).toMatchObject({ reason: "watchpoint" });
  expect(d.at).toMatch(/^calls:61 0\/0\//);
  expect(formatValue({ bytes: stop.watchpoints[0]!.now!, type: "u32" })).toBe("9");
  d.session.finish(d.session.goTo(0));
  const w = d.session.addWatchpoint("exchange", "change");
  const first = d.go();
  expect(first).toMatchObject({ reason: "watchpoint" });
  expect(w.hits).toBe(1);
  const old = d.session.now;
  expect(d.go(true)).toMatchObject({ reason: "watchpoint", time: old - 1 });
});

test("a register of one lane", () => {
  const d = new Driver("calls.json");
  d.session.finish(d.session.step({ kind: "into" }));
  focus(d, 4);
  d.session.addWatchpoint("%y", "change");
  const values: string[] = [];
  for (let stop = d.go(); stop.reason === "watchpoint"; stop = d.go()) values.push(d.value("%y"));
  // 4 & 1 is the 0 that was there; 2 * 4; and with what thread 5 has.
  expect(values).toEqual(["8", "33"]);
  const last = d.session.finish(d.session.lastWrite("out"));
  expect(last.reason).toBe("beginning");
});

test("a stop before a fault has its report, and time can go back from there", () => {
  const d = new Driver("factorial.json");
  const stop = d.go();
  expect(stop).toMatchObject({ reason: "fault", report: { code: "global-out-of-bounds" } });
  expect(d.at).toBe("compute:47 0/0/3");
  expect(d.value("%r")).toBe("6");
  expect(d.go()).toMatchObject({ reason: "fault", time: stop.time });
  expect(d.step("over", true)).toBe("compute:46 0/0/3");
  expect(d.step("over")).toBe("compute:47 0/0/3");
  // With another value the program continues.
  d.session.assign("%third", "0");
  expect(d.go().reason).toBe("end");
});

test("frames of a recursion", () => {
  const d = new Driver("factorial.json");
  d.break("23", { condition: parseExpression("%n == 5 && laneid == 7") });
  d.go();
  expect(d.session.view.frames.map((f) => f.site.code.ir.name)).toEqual([
    "factorial",
    "factorial",
    "factorial",
    "compute",
  ]);
  expect(d.value("%n")).toBe("5");
  d.session.focus = { ...d.session.focus, frame: 2 };
  expect(d.value("%n")).toBe("7");
  d.step("out");
  expect(d.at).toBe("compute:41 0/0/7");
});

test("lines of the source that .loc names", () => {
  const d = new Driver("calls.json");
  d.break("calls.cu:16");
  d.go();
  expect(d.at).toBe("calls:59 0/0/0");
  d.session.breakpoints.clear();
  d.session.finish(d.session.step({ kind: "over", granularity: "source-line" }));
  expect(d.at).toBe("calls:68 0/0/0");
  d.session.finish(d.session.step({ kind: "over", granularity: "source-line", backward: true }));
  expect(d.at).toBe("calls:59 0/0/0");
});

test("a changed value changes the future", () => {
  const d = new Driver("calls.json");
  d.break("68", { condition: parseExpression("warp == 1") });
  d.go();
  d.session.assign("%other", "1000");
  d.session.breakpoints.clear();
  const { now } = d.session;
  expect(d.step("over")).toBe("calls:69 0/1/0");
  expect(d.value("%y")).toBe("1064");
  expect(d.step("over", true)).toBe("calls:68 0/1/0");
  expect(d.session.now).toBe(now);
  expect(d.value("%other")).toBe("1000");
  d.session.finish(d.session.goTo(now - 1));
  d.session.finish(d.session.goTo(now));
  expect(d.value("%other")).toBe("1000");
});

test("a fault that has been fixed is forgotten: the next launch begins", () => {
  const d = new Driver("mend.json");
  expect(d.go().reason).toBe("fault");
  d.session.assign("%third", "0");
  expect(d.go()).toMatchObject({ reason: "end", report: null });
  expect(d.session.timeline.launch).toEqual({ index: 1, count: 2 });
  expect(d.session.timeline.findings).toEqual([]);
});

test("a lane that has ended makes no steps forward, but can go back to its last one", () => {
  const d = new Driver("calls.json");
  d.break("68", { condition: parseExpression("warp == 1") });
  d.go();
  focus(d, 3, 0);
  expect(() => d.step()).toThrow("the lane in focus has ended");
  expect(d.step("into", true)).toBe("calls:72 0/0/3");
});

test("vISA: a call of some lanes, its variables, and the writes to them", () => {
  const d = new Driver("visa.json");
  d.break("square");
  expect(d.go().reason).toBe("breakpoint");
  expect(d.at).toBe("square:13 0/0/5");
  d.session.breakpoints.clear();
  expect(d.step()).toBe("square:14 0/0/5");
  expect(d.value("Y")).toBe("{0, 0, 0, 0, 0, 25, 36, 49}");
  expect(d.step("out")).toBe("k:26 0/0/5");
  expect(d.value("RET[5]")).toBe("25");
  d.session.addWatchpoint("X", "change");
  const [hit] = d.go().watchpoints;
  expect(formatValue({ bytes: hit!.now!, type: "ud" })).toBe("{0, 1, 2, 3, 4, 25, 36, 49}");
  expect(d.at).toBe("k:27 0/0/5");
  d.session.watchpoints.clear();
  d.session.finish(d.session.lastWrite("P1"));
  expect(d.at).toBe("k:22 0/0/5");
  expect(d.step("out", true)).toBe("k:18 0/0/5");
});
