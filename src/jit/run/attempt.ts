import type { LaunchRequest } from "../../machine/launch.ts";
import type { DeviceWork } from "../../machine/state/device-work.ts";
import { nextLaunch } from "../../program/open-launch.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { HostImport } from "../abi/host-imports.ts";
import type { JitResult } from "./launch-execution.ts";
import { withoutReports } from "./repeatable.ts";
import { whyGivenUp } from "./why-not.ts";

/** A launch that may be undone. What it prints and reports is kept until that is decided. */
export interface Attempt {
  readonly id: number;
  readonly request: LaunchRequest;
  readonly undo: () => void;
  /** The launch stands: tells what it has printed and reported. */
  readonly print: (result: Pick<JitResult, "reports">) => void;
  /** Undoes the launch if the error says that compiled code gives up; throws any other error. */
  readonly giveUp: (error: unknown) => null;
}

/** Prepares a launch that `undo` undoes. `refuse` is told why compiled code has given it up. */
export function attempt(
  request: LaunchRequest,
  undo: () => void,
  refuse: (reason: string, request: LaunchRequest) => void,
): Attempt {
  const printed: string[] = [];
  const onOutput = (text: string): void => {
    printed.push(text);
  };
  const handedOver: DeviceWork[] = [];
  const onDeviceWork = (work: DeviceWork): void => {
    handedOver.push(work);
  };
  const quiet = new QuietAttempt(request, undo, refuse);
  return {
    id: quiet.id,
    request: { ...quiet.request, onOutput, onDeviceWork },
    undo,
    print: (result) => {
      for (const text of printed) request.onOutput?.(text);
      for (const work of handedOver) request.onDeviceWork?.(work);
      quiet.print(result);
    },
    giveUp: (error) => quiet.giveUp(error),
  };
}

/** The same for a kernel of which nobody learns anything but reports before the launch ends. */
export class QuietAttempt implements Attempt {
  readonly id = nextLaunch();
  readonly request: LaunchRequest;
  readonly undo: () => void;
  readonly #asked: LaunchRequest;
  readonly #refuse: (reason: string, request: LaunchRequest) => void;

  constructor(request: LaunchRequest, undo: () => void, refuse: (reason: string, request: LaunchRequest) => void) {
    this.request = request.onReport === undefined ? request : withoutReports(request);
    this.undo = undo;
    this.#asked = request;
    this.#refuse = refuse;
  }

  print({ reports }: Pick<JitResult, "reports">): void {
    for (const report of reports) this.#asked.onReport?.(report, reports);
  }

  giveUp(error: unknown): null {
    const reason = whyGivenUp(error);
    if (reason === null) throw error;
    this.undo();
    this.#refuse(reason, this.#asked);
    return null;
  }
}

/** Whether a kernel prints nothing, and hands the device no work: both are told at once. */
export const isQuiet = ({ imports }: CompiledKernel): boolean => !imports.includes("external" satisfies HostImport);
