/// <reference lib="webworker" />
import { Workspace } from "lanewise/ide";
import type { LanguageAnswer, LanguageRequest } from "./language-client.ts";

const workspace = new Workspace();

addEventListener("message", ({ data: { id, method, args } }: MessageEvent<LanguageRequest>) => {
  let answer: LanguageAnswer;
  try {
    const result = (workspace[method] as (...given: unknown[]) => unknown).apply(workspace, [...args]);
    answer = { id, result };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  postMessage(answer);
});
