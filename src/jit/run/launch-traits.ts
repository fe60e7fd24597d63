import { type IrFunction, unitTraits } from "../../ir/index.ts";
import type { LaunchRequest, Placement } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Program } from "../../program/program.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { type ChunkWidth, isIndexed, type LaunchShape } from "../abi/launch-shape.ts";

/** Blocks of a grid from which on another version of a kernel is worth the time that it takes to compile. */
const manyBlocks = 16;

/** Whether a grid has so many, of which enough may be in its interior, or side by side. */
export const hasManyBlocks = ([x, y, z]: Dim3): boolean => x * y * z >= manyBlocks;

/** Tells launches of a program apart whose kernels may have other shapes. `isShared`: of the device's memory. */
export function launchKeyOf(
  { kernel, block, grid, cluster, matrix, sharedBytes, threads, asked }: LaunchRequest,
  width: ChunkWidth | null,
  isShared: boolean,
): string {
  const items = threads?.items;
  const layout = items === undefined ? "" : `${items.paramBytes} ${[...items.surfaces].join()}`;
  const inThreads = threads === undefined ? "" : `${threads.width} lanes ${items !== undefined} ${layout}`;
  const of = `${width} ${isShared} ${asked?.block.join()} ${asked?.placement}`;
  return `${kernel} ${block.join()} ${sharedBytes} ${cluster?.join()} ${matrix} ${of} ${inThreads} ${hasManyBlocks(grid)} ${isIndexed(grid)}`;
}

/** Tells a kernel's code for a shape from that for others. */
const shapeKey = (
  kernel: string,
  {
    quads,
    scalar,
    block,
    interior,
    indexed,
    rows,
    rowLength,
    full,
    single,
    shared,
    width,
    clustered,
    exactSums,
    needlessBarriers,
    byRound,
    maskedRounds,
    given,
  }: LaunchShape,
): string =>
  `${kernel} ${scalar ? "scalar" : quads} ${rowLength ?? rows} ${full}${single ? " single" : ""} ${shared} ${width}${block === null ? "" : ` block ${block.join()}${interior ? " interior" : ""}`}${indexed ? "" : " not indexed"}${clustered ? " clustered" : ""}${exactSums ? " exact" : ""}${needlessBarriers.length > 0 ? ` without ${needlessBarriers.join()}` : ""}${byRound ? " by round" : ""}${maskedRounds ? " masked rounds" : ""}${given.map(({ offset, value }) => ` ${offset} is ${value}`).join("")}`;

/** Tells the code for a launch from all other code. */
export const keyOf = ({ kernel, block, asked }: LaunchRequest, shape: LaunchShape): string =>
  `${shapeKey(kernel, shape)}${asked === undefined ? "" : placementKeys[asked.placement](block)}`;

/** Tells kernels apart that run in other blocks than were asked for. */
const placementKeys: Readonly<Record<Placement, (block: Dim3) => string>> = {
  same: () => " any blocks",
  transposed: () => " any blocks, transposed",
  alongX: ([blocks]) => ` ${blocks} blocks along x`,
  alongY: ([, blocks]) => ` ${blocks} blocks along y`,
  alongZ: ([, , blocks]) => ` ${blocks} blocks along z`,
};

/**
 * Whether compiled code may come to another fault first than the interpreter: the lanes of a warp run in several chunks
 * that know nothing of each other's faults, or in a loop that stands for two, one after the other.
 */
export function isJudged(
  { lanes, shape, isRerolled }: CompiledKernel,
  { block: [x, y, z], threads, asked }: LaunchRequest,
): boolean {
  if (shape.width !== null) return false;
  return isRerolled || asked !== undefined || lanes < Math.min(threads?.width ?? 32, x * y * z);
}

/** Whether a function waits for phases of mbarriers, or for tensor memory. */
export const awaitsPhases = ({ instructions }: IrFunction): boolean =>
  instructions.some(
    ({ op }) =>
      (op.kind === "atomic" && op.problem !== undefined && op.results?.[0]?.ty === "pred") ||
      (op.kind === "unit" && unitTraits[op.unit.op].takes === true),
  );

/**
 * Bytes of the device's memory that are copied in case there is a fault, at most, and in case all blocks wait forever.
 */
export const maxCheckpointBytes = 2 ** 20;
export const maxStallBytes = 2 ** 26;

/**
 * The addresses of a program's variables, as far as code depends on them: part of the cache's key. `constantsAt`: where
 * its constants lie.
 */
export function placesOf({ variables, constants }: Program, constantsAt: () => number): string {
  const globals = [...variables.values()].filter(({ variable }) => variable.space === "global");
  const base = constants.extents.length > 0 ? [constantsAt()] : [];
  return [...base, ...globals.map(({ address }) => address)].join();
}
