import { border } from "./borders.ts";
import { clamped } from "./clamps.ts";
import { bulkStores, bulkWithin, copyGroups } from "./async-copies.ts";
import { ownAtomic, sharedAtomic } from "./atomics.ts";
import { blockReduction, exchange, pause, produce, vote } from "./barriers.ts";
import { clusterArrivals, clusterExchange, clusterMulticast, clusterStores } from "./clusters.ts";
import { bytes } from "./bytes.ts";
import { call, canCall } from "./calls.ts";
import { compute } from "./compute.ts";
import { doubling } from "./doublings.ts";
import { elimination } from "./eliminations.ts";
import { fault } from "./fault.ts";
import { fixedRounds } from "./fixed-rounds.ts";
import { choice, conditional, graph, jump, leave, loop } from "./flow.ts";
import { accessSurface, fetchTexel, queryImage } from "./images.ts";
import { callWithPointer } from "./local-pointers.ts";
import { updateSurface } from "./surfaces.ts";
import { inputWindow, layout } from "./layouts.ts";
import { laneGroups } from "./lane-groups.ts";
import { lockstep } from "./lockstep.ts";
import { matrixOperation, matrixValues } from "./matrices.ts";
import { load, store, useTable } from "./memory.ts";
import { mbarrierPhases } from "./mbarriers.ts";
import { pipeline } from "./pipelines.ts";
import type { Scope, Weights } from "./scope.ts";
import { callSmall } from "./small-functions.ts";
import { neighbour } from "./neighbours.ts";
import { partialWarp } from "./partial-warps.ts";
import { print, stream } from "./stream.ts";
import { strides } from "./strides.ts";
import { trips } from "./trips.ts";
import { unrolledRow } from "./unrolled-rows.ts";
import { tensorLoad, tensorStore } from "./tensor-boxes.ts";
import { rounds } from "./rounds.ts";
import { rows } from "./rows.ts";
import { tensorMemory, tensorPairs } from "./tensor-memory.ts";
import { tile } from "./tiles.ts";
import { phase } from "./trees.ts";
import { turns } from "./turns.ts";
import { update } from "./updates.ts";
import { wavefront } from "./wavefronts.ts";
import { warpNumber } from "./warp-numbers.ts";
import { warpOperation } from "./warp.ts";
import { warpgroupProducts } from "./warpgroups.ts";

interface Kind {
  readonly write: (scope: Scope) => void;
  /** Whether such a statement may stand there; default: anywhere. */
  readonly fits?: (scope: Scope) => boolean;
}

const nests = ({ nesting, text }: Scope): boolean => nesting <= 2 && text.size <= text.scale.mostLines;
const meets = ({ converged }: Scope): boolean => converged;
/** All threads of the block are in the kernel itself. */
const together = ({ converged, level }: Scope): boolean => converged && level < 0;
/** All threads of all blocks of the cluster are there. */
const inCluster = (scope: Scope): boolean => together(scope) && scope.nesting === 0;
/** Groups that loop over atomics give way after some rounds, which warp-wide operations would tell. */
const waits = ({ weights, loops, level }: Scope): boolean => !("warp" in weights) || (loops.length === 0 && level < 0);

const kinds: Readonly<Record<keyof Weights, Kind>> = {
  compute: { write: compute },
  conditional: { write: conditional, fits: nests },
  loop: { write: loop, fits: nests },
  jump: { write: jump, fits: ({ loops, converged }) => loops.length > 0 && !converged },
  leave: { write: leave, fits: (scope) => scope.leave !== null },
  choice: { write: choice, fits: nests },
  graph: { write: graph, fits: nests },
  load: { write: load },
  store: { write: store },
  table: { write: useTable, fits: ({ level }) => level < 0 },
  stream: { write: stream, fits: ({ level, module }) => level < 0 && module.streamsLeft > 0 },
  bytes: { write: bytes, fits: ({ level, module }) => level < 0 && module.streamsLeft > 0 },
  print: { write: print, fits: ({ level }) => level < 0 },
  pause: { write: pause },
  exchange: { write: exchange, fits: meets },
  blockReduction: { write: blockReduction, fits: meets },
  vote: { write: vote, fits: together },
  produce: { write: produce, fits: (scope) => meets(scope) && scope.module.warps > 1 },
  phase: { write: phase, fits: together },
  layout: { write: layout, fits: together },
  inputWindow: { write: inputWindow },
  tile: { write: tile, fits: ({ level }) => level < 0 },
  clamped: { write: clamped, fits: ({ level }) => level < 0 },
  border: { write: border, fits: ({ level }) => level < 0 },
  warpNumber: { write: warpNumber, fits: ({ level }) => level < 0 },
  rounds: { write: rounds, fits: together },
  lockstep: { write: lockstep, fits: together },
  turns: { write: turns, fits: together },
  trips: { write: trips, fits: (scope) => together(scope) && scope.nesting === 0 },
  unrolledRow: { write: unrolledRow, fits: ({ level }) => level < 0 },
  fixedRounds: { write: fixedRounds, fits: ({ level }) => level < 0 },
  rows: { write: rows, fits: ({ level, nesting }) => level < 0 && nesting === 0 },
  strides: { write: strides, fits: ({ level }) => level < 0 },
  update: { write: update, fits: ({ level, module }) => level < 0 && module.streamsLeft > 0 },
  doubling: { write: doubling, fits: (scope) => together(scope) && scope.nesting === 0 },
  elimination: { write: elimination, fits: (scope) => together(scope) && scope.nesting === 0 },
  neighbour: { write: neighbour, fits: (scope) => together(scope) && scope.nesting === 0 },
  wavefront: { write: wavefront, fits: (scope) => together(scope) && scope.nesting === 0 },
  partialWarp: { write: partialWarp, fits: together },
  laneGroups: { write: laneGroups, fits: together },
  fault: { write: fault, fits: ({ level }) => level < 0 },
  call: { write: call, fits: canCall },
  callSmall: { write: callSmall },
  callWithPointer: { write: callWithPointer },
  warp: { write: warpOperation },
  sharedAtomic: { write: sharedAtomic, fits: waits },
  ownAtomic: { write: ownAtomic, fits: waits },
  matrix: { write: matrixOperation, fits: together },
  matrixValues: { write: matrixValues },
  warpgroupProducts: { write: warpgroupProducts, fits: (scope) => together(scope) && scope.nesting === 0 },
  tensorMemory: { write: tensorMemory, fits: (scope) => together(scope) && scope.nesting === 0 },
  tensorPairs: { write: tensorPairs, fits: inCluster },
  mbarrierPhases: { write: mbarrierPhases, fits: together },
  pipeline: { write: pipeline, fits: (scope) => together(scope) && scope.module.warps > 1 },
  copyGroups: { write: copyGroups, fits: together },
  bulkStores: { write: bulkStores, fits: together },
  bulkWithin: { write: bulkWithin, fits: together },
  tensorLoad: { write: tensorLoad, fits: together },
  clusterExchange: { write: clusterExchange, fits: inCluster },
  clusterStores: { write: clusterStores, fits: inCluster },
  clusterArrivals: { write: clusterArrivals, fits: inCluster },
  clusterMulticast: { write: clusterMulticast, fits: inCluster },
  fetchTexel: { write: fetchTexel, fits: ({ level }) => level < 0 },
  updateSurface: { write: updateSurface, fits: ({ level }) => level < 0 },
  accessSurface: { write: accessSurface, fits: ({ level }) => level < 0 },
  queryImage: { write: queryImage, fits: ({ level }) => level < 0 },
  // Blocks would store into the same tensor.
  tensorStore: { write: tensorStore, fits: (scope) => together(scope) && scope.module.blocks === 1 },
};

/**
 * That many statements, in a small program fewer, of the kinds that the family has; where one does not fit, the thread
 * computes.
 */
export function statements(scope: Scope, count: number): void {
  const { oneStatementOf } = scope.text.scale;
  for (let i = 0; i < count; i += oneStatementOf) {
    const kind: Kind = kinds[scope.text.random.weighted(scope.weights)];
    (kind.fits === undefined || kind.fits(scope) ? kind : kinds.compute).write(scope);
  }
}
