import type { LaunchRequest } from "../../machine/launch.ts";
import { type Dim3, isSameDim3 } from "../../machine/reports/report.ts";
import { haveSameValues, type KnownParameter } from "../abi/known-parameter.ts";
import { isIndexed } from "../abi/launch-shape.ts";
import type { LoadedKernel } from "./loaded-kernel.ts";
import type { OtherBlocks } from "./regrouping.ts";
import type { ShortLaunches } from "./short-launches.ts";

/** How compiled code runs the launches of a kernel that are alike. */
export interface LaunchWay {
  readonly loaded: LoadedKernel;
  /** The blocks in which they run; null: those that are asked for. */
  readonly blocks: OtherBlocks | null;
  /** Why the interpreter runs them although the kernel is compiled; null if it does not. */
  readonly obstacle: string | null;
  /** Whether the interpreter decides which of several faults comes first, where the device's memory is small. */
  readonly isJudged: boolean;
  /** See `isRepeatable`. */
  readonly isRepeatable: boolean;
  /** Whether they may wait forever for what nobody tells, which is found out where the device's memory is not large. */
  readonly mayStall: boolean;
  /** Whether there may be a better kernel for them once this one has run for some time. */
  readonly isEarly: boolean;
  /** Those of them that are short. */
  readonly short: ShortLaunches;
}

/** A way, and the launch for which it was found. */
interface Known {
  readonly request: LaunchRequest;
  /** Null where it holds for grids of all sizes, or for all in which global indices have no sign. */
  readonly grid: Dim3 | null;
  readonly isShared: boolean;
  /** The parameters that have the same values in all launches for which it holds. */
  readonly parameters: readonly KnownParameter[];
  /** Or why the kernel cannot be compiled. */
  readonly way: LaunchWay | string;
}

/** Ways of launches of one kernel that are known at a time, where they depend on parameters. */
const mostKnown = 4;

/**
 * The ways of the launches that were last looked at, by kernel. A launch asks several times, and a program that
 * launches much does the same again: nothing is found out anew for a launch that is like its kernel's last one.
 */
export class LaunchWays {
  readonly #last = new Map<string, readonly Known[]>();

  /** Returns what is known of launches like this one; null if nothing is. `isShared`: of the device's memory. */
  of(request: LaunchRequest, isShared: boolean): LaunchWay | string | null {
    for (const known of this.#last.get(request.kernel) ?? []) {
      if (known.isShared === isShared && (known.request === request || isAlike(known, request))) return known.way;
    }
    return null;
  }

  /** Launches on which other ways may depend: those with another grid, or with other values of some parameters. */
  add(
    request: LaunchRequest,
    isShared: boolean,
    { dependsOnGrid, parameters }: { readonly dependsOnGrid: boolean; readonly parameters: readonly KnownParameter[] },
    way: LaunchWay | string,
  ): void {
    const grid = dependsOnGrid ? request.grid : null;
    const known = { request, grid, isShared, parameters, way };
    const others = parameters.length === 0 ? [] : (this.#last.get(request.kernel) ?? []);
    this.#last.set(request.kernel, [known, ...others.filter((o) => o.parameters.length > 0)].slice(0, mostKnown));
  }

  forget(kernel: string): void {
    this.#last.delete(kernel);
  }
}

function isAlike({ request: last, grid, parameters }: Known, request: LaunchRequest): boolean {
  return (
    last.sharedBytes === request.sharedBytes &&
    last.matrix === request.matrix &&
    haveSameValues(last.params, request.params, parameters) &&
    isSameDim3(last.block, request.block) &&
    (grid === null ? isIndexed(last.grid) === isIndexed(request.grid) : isSameDim3(grid, request.grid)) &&
    isWhole(last) &&
    isWhole(request) &&
    last.threads?.items === request.threads?.items &&
    last.threads?.width === request.threads?.width
  );
}

/**
 * Whether all blocks of a grid run, none of them together in a cluster unless the kernel says so; of vISA, as work
 * items if that is possible.
 */
const isWhole = ({ threads, cluster, blocks }: LaunchRequest): boolean =>
  (threads === undefined || threads.items !== undefined) && cluster === undefined && blocks === undefined;
