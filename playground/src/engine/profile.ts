import { profileOf, Profiler } from "lanewise";
import { findingOf, findingOfReport, shownName } from "./findings.ts";
import { findingsOfError, openRun } from "./program.ts";
import type { EngineRequests, ProfileView } from "./protocol.ts";

/** Runs a program and counts what it does. */
export async function profileProgram({ program }: EngineRequests["profile"]["args"]): Promise<ProfileView> {
  try {
    const profiler = new Profiler({ timelinesOfLaunch: 0 });
    const run = await openRun(program, { observers: [profiler], sanitize: new Set(), maxSteps: null });
    const { reports, diagnostics, problem, failure, skipped } = run.run();
    const { totals, lines, functions } = profileOf(profiler);
    return {
      failure: problem?.message ?? skipped ?? failure,
      findings: [...diagnostics.map(findingOf), ...reports.map(findingOfReport)],
      totals,
      lines: lines.map(({ source, line, function: name, counts }) => ({
        path: source.path,
        line,
        function: shownName(name),
        counts,
      })),
      functions: functions.map(({ name, calls, warpInstructions, threadInstructions }) => ({
        name: shownName(name),
        calls,
        warpInstructions,
        threadInstructions,
      })),
    };
  } catch (error) {
    return { ...findingsOfError(error), totals: null, lines: [], functions: [] };
  }
}
