import { describe, expect, test } from "vitest";
import { laneChart, laneGroups, type LaneGroup, type LaneTrace } from "../../examples/lane-chart.mjs";

const at = (lanes: number, state: LaneGroup["state"], name: string, depth = 1): LaneGroup => ({
  lanes,
  state,
  function: name,
  depth,
});

/** Lanes 0 and 1 call; lane 0 returns early; lane 3 ends; lane 2 waits at a barrier until all are there. */
const trace: LaneTrace = {
  lanes: 0b1111,
  steps: [
    { lanes: 0b1111, line: 10, text: "mov.u32 a, 1;", groups: [at(0b1111, "runs", "main")] },
    { lanes: 0b1111, line: 11, text: "@p call walk;", groups: [at(0b1111, "runs", "main")] },
    { lanes: 0b0011, line: 20, text: "@q ret;", groups: [at(0b0011, "runs", "walk"), at(0b1100, "ready", "main")] },
    {
      lanes: 0b0010,
      line: 21,
      text: "ret;",
      groups: [at(0b0001, "returned", "walk"), at(0b0010, "runs", "walk"), at(0b1100, "ready", "main")],
    },
    { lanes: 0b1100, line: 12, text: "@r exit;", groups: [at(0b0011, "ready", "main"), at(0b1100, "runs", "main")] },
    { lanes: 0b0100, line: 13, text: "bar.sync 0;", groups: [at(0b0011, "ready", "main"), at(0b0100, "runs", "main")] },
    { lanes: 0b0011, line: 13, text: "bar.sync 0;", groups: [at(0b0011, "runs", "main"), at(0b0100, "waits", "main")] },
    { lanes: 0b0111, line: 14, text: "ret;", groups: [at(0b0111, "runs", "main")] },
    { lanes: 0, line: 0, text: "", groups: [] },
  ],
};

describe("a chart", () => {
  test("has a row for lanes with the same history, and marks where they part and meet", () => {
    expect(laneChart(trace, { width: 40 })).toBe(`lanes       time →
0           M━━W━━╌╌╌······M━━━━━×
1           M━━W━━━━━······M━━━━━×
2           M━━······M━━━━━░░░M━━×
3           M━━······M━━×
part        a  b     c
meet                          d

M━ main   W━ walk
━━ runs   ·· waits for its turn
╌╌ has returned, waits for the others
░░ waits at a barrier, or for lanes to exchange values with
×× has ended

a  part  line 11   @p call walk;  2 to..
b  part  line 20   @q ret;        1 re..
c  part  line 12   @r exit;       1 go..
d  meet  line 14   ret;           2 + ..`);
  });

  test("says in full what becomes of the lanes where there is room", () => {
    expect(laneChart(trace, { width: 80 }).split("\n").slice(-4)).toEqual([
      "a  part  line 11   @p call walk;  2 to W, 2 go on",
      "b  part  line 20   @q ret;        1 return, 1 go on",
      "c  part  line 12   @r exit;       1 go on, 1 end",
      "d  meet  line 14   ret;           2 + 1 lanes",
    ]);
  });

  test("never gets wider than the terminal", () => {
    for (const width of [30, 40, 80, 200]) {
      const [rows = ""] = laneChart(trace, { width }).split("\n\nM");
      expect(Math.max(...rows.split("\n").map((line) => line.length))).toBeLessThanOrEqual(width);
    }
  });

  test("that does not fit goes on below", () => {
    expect(laneChart(trace, { width: 22 })).toContain("time, continued →");
  });

  test("can do without Unicode", () => expect(laneChart(trace, { unicode: false })).toMatch(/^[\n\x20-\x7e]*$/));

  test("says the same in colour", () => {
    const colored = laneChart(trace, { color: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
    const text = colored.replace(/\x1b\[[\d;]*m/g, "");
    expect(colored).not.toBe(text);
    expect(text.replaceAll("━", " ").replace(/ +/g, " ")).toContain("part line 11 @p call walk; 2 to W, 2 go on");
  });

  test("shows how deep a recursion is", () => {
    const steps = [1, 2].map((depth) => ({ lanes: 1, line: 1, text: "", groups: [at(1, "runs", "f", depth)] }));
    expect(laneChart({ lanes: 1, steps })).toContain("F━━━━━━━F2━━━━━━");
  });

  test("of nothing is no error", () => expect(laneChart({ lanes: 0, steps: [] })).toBe(""));
});

test("the list of groups says what has changed", () => {
  expect(laneGroups(trace)).toBe(`  1  10-11  0000000f runs in main
  2     20  00000003 runs in walk, 0000000c ready in main
  3     21  00000001 returned in walk, 00000002 runs in walk
  4     12  00000003 ready in main, 0000000c runs in main
  5     13  00000004 runs in main
  6     13  00000003 runs in main, 00000004 waits in main
  7     14  00000007 runs in main`);
});
