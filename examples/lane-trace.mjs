/**
 * Watches one warp of a launch, and writes down at each instruction where its lanes are.
 *
 *     const { observer, trace } = traceLanes();
 *     kernel.launch({ grid: 1, block: 32, args, observers: [observer] });
 *     console.log(laneChart(trace));
 *
 * `block` and `warp` say which one (default: the first). At most `most` steps are kept.
 */
export function traceLanes({ block = 0, warp = 0, most = 10_000 } = {}) {
  const trace = { lanes: 0, steps: [] };
  const watched = (w) => w.cta.ticket === block && w.index === warp && trace.steps.length < most;
  const observer = {
    instruction({ warp: w, activation, site, mask }) {
      if (!watched(w)) return;
      trace.lanes = w.lanes;
      const running = w.groups.find((g) => g.activation === activation && (g.mask & mask) === mask);
      const { source } = site.code.ir;
      const { span } = site.instruction;
      trace.steps.push({
        lanes: running.mask,
        line: source.position(span.start).line,
        text: source.slice(span).replace(/\s+/g, " "),
        groups: laneGroupsOf(w, running).map(({ activation: at, ...group }) => ({ ...group, ...placeOf(at) })),
      });
    },
    blockEnd(cta) {
      const ended = cta.warps[warp];
      if (ended && watched(ended)) trace.steps.push({ lanes: 0, line: 0, text: "", groups: [] });
    },
  };
  return { observer, trace };
}

/**
 * Where the lanes of a warp are: those that are in the same activation and in the same state, from the lowest lane up.
 * `running` is the group that executes an instruction, or null.
 */
export const laneGroupsOf = (warp, running) =>
  [...groupsOf(warp, running), ...returnedOf(warp)].sort((a, b) => lowest(a.lanes) - lowest(b.lanes));

const lowest = (lanes) => 31 - Math.clz32(lanes & -lanes);

const groupsOf = (warp, running) =>
  warp.groups.map((group) => {
    const state = group === running ? "runs" : group.wait === null ? "ready" : "waits";
    return { lanes: group.mask, state, activation: group.activation };
  });

/** Lanes that have returned from an activation in which others still are. */
function returnedOf(warp) {
  const activations = new Set();
  for (const group of warp.groups) for (let x = group.activation; x !== null; x = x.caller) activations.add(x);
  return [...activations]
    .filter((x) => x.returned !== 0)
    .map((x) => ({ lanes: x.returned, state: "returned", activation: x }));
}

/** The function, and how many activations of it the lanes are in: more than one in a recursion. */
export function placeOf(activation) {
  let depth = 0;
  for (let x = activation; x !== null; x = x.caller) if (x.code === activation.code) depth++;
  return { function: activation.code.ir.name, depth };
}

/** For each lane, the functions in which it has run, in order; a function again where it has come back to it. */
export function functionsOf({ lanes, steps }) {
  return Array.from({ length: 32 - Math.clz32(lanes) }, (_, lane) => {
    const names = steps.flatMap(({ groups }) => {
      const group = groups.find((g) => g.state === "runs" && (g.lanes >>> lane) & 1);
      return group === undefined ? [] : [group.function];
    });
    return names.filter((name, i) => name !== names[i - 1]);
  });
}
