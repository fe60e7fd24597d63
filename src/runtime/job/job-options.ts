import type { Observer } from "../../machine/events.ts";
import type { SanitizerName, Steering } from "../../machine/launch.ts";
import type { Report } from "../../machine/reports/report.ts";
import type { EngineChoice, LaunchOptions } from "../launch/launch-options.ts";

/** How the launches of a job are run, watched and limited. */
export interface JobOptions {
  /** Default: that of the device. */
  readonly engine?: EngineChoice;
  /** As in `LaunchDefaults`. */
  readonly hostThreads?: number;
  /** The sanitizers that watch. Default: all for a job that expects a report, none otherwise. */
  readonly sanitize?: ReadonlySet<SanitizerName> | null;
  readonly seed?: number | null;
  /**
   * The thread-instructions allowed for a launch. Default: no limit, except for a job that expects a report, since that
   * report may be that it never ends.
   */
  readonly maxSteps?: number | null;
  readonly timeoutMs?: number | null;
  /** How products of matrices are summed, as in `LaunchDefaults`. */
  readonly matrix?: LaunchOptions["matrix"] | null;
  readonly target?: string | null;
  /** The module that is wanted of files that have several. */
  readonly module?: string | null;
  /** Called now and then in a long launch, as in `LaunchOptions`. */
  readonly onProgress?: LaunchOptions["onProgress"];
  /** Called with each report that is not suppressed, as soon as it is found. */
  readonly onReport?: (report: Report) => void;
  /**
   * Selects reports to suppress. A launch whose only errors are suppressed counts as good, even if a fault ended it.
   */
  readonly suppress?: (report: Report) => boolean;
  /** Observers of the launches, in addition to the sanitizers. */
  readonly observers?: readonly Observer[];
  /** Chooses the schedule of the launches, one after the other. */
  readonly steering?: Steering;
}
