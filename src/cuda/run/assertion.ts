import { signatureOf } from "../../names/index.ts";
import type { Report } from "../../machine/reports/report.ts";

/** The lines that CUDA prints for an assertion that does not hold: one for each thread. None for other reports. */
export function assertionLines({ code, message, threads }: Report): readonly string[] {
  if (code !== "assertion-failed") return [];
  const [, condition = "", name = "", place = ""] =
    /^assertion `([\s\S]*)` failed in (.*) \((.*)\)$/.exec(message) ?? [];
  return threads.map(({ block, thread }) => {
    const where = `block: [${block.join()}], thread: [${thread.join()}]`;
    return `${place}: ${signatureOf(name)}: ${where} Assertion \`${condition}\` failed.`;
  });
}
