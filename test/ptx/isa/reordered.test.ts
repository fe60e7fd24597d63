import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { complaint, moduleHead, readInstances } from "./instances.ts";

const isAvailable = spawnSync("ptxas", ["--version"]).status === 0;
const folder = isAvailable ? mkdtempSync(join(tmpdir(), "lanewise-")) : "";

/** An instruction with one of its modifiers at any other place. */
function reordered(text: string): string[] {
  const [, head = "", rest = ""] = /^(?:@!?\w+\s+)?([\w.:]+)(.*)$/s.exec(text) ?? [];
  const [root, ...modifiers] = head.split(".");
  const texts = new Set<string>();
  for (const [from, word] of modifiers.entries()) {
    const others = modifiers.toSpliced(from, 1);
    for (let to = 0; to < modifiers.length; to++) {
      texts.add(`${[root, ...others.toSpliced(to, 0, word)].join(".")}${rest}`);
    }
  }
  texts.delete(`${head}${rest}`);
  return [...texts];
}

/** By instruction whether ptxas accepts it. It stops at some errors, and is then asked for the rest. */
function accepted(target: string, texts: readonly string[]): ReadonlyMap<string, boolean> {
  const head = moduleHead(target);
  const before = head.split("\n").length;
  const verdicts = new Map(texts.map((text) => [text, true]));
  let asked = texts;
  for (;;) {
    // The last instruction is wrong, so that ptxas never begins to make code, and shows that it has come to the end.
    const file = join(folder, "reordered.ptx");
    writeFileSync(file, `${head}${[...asked, "add.u32 r1,d1,d1;"].join("\n")}\nret;\n}\n`);
    const { stdout, stderr } = spawnSync("ptxas", [`-arch=${target}`, file, "-o", join(folder, "none.o")], {
      encoding: "utf8",
    });
    const wrong = new Set(
      [...`${stdout}${stderr}`.matchAll(/line (\d+); (?:error|fatal)/g)].map(([, line]) => Number(line) - before),
    );
    for (const i of wrong) if (i >= 0 && i < asked.length) verdicts.set(asked[i]!, false);
    if (wrong.has(asked.length)) return verdicts;
    expect(wrong.size).toBeGreaterThan(0);
    asked = asked.filter((text) => verdicts.get(text));
  }
}

/** ptxas does not look at coordinates whose types are in the wrong order. */
const isKnown = (text: string): boolean => /^tex\.[^ ]*\bf32\b[^ ]*\bs32\b/.test(text);

test.skipIf(!isAvailable)(
  "modifiers may be in the orders that ptxas accepts",
  () => {
    const byTarget = new Map<string, string[]>();
    for (const { target, text, accepted } of readInstances()) {
      if (!accepted) continue;
      const texts = byTarget.get(target) ?? [];
      texts.push(...reordered(text).filter((text) => !isKnown(text)));
      byTarget.set(target, texts);
    }
    const different: string[] = [];
    let count = 0;
    for (const [target, all] of byTarget) {
      // Every fourth is enough to see a rule that has become wrong.
      const texts = [...new Set(all)].filter((_, i) => i % 4 === 0);
      for (let at = 0; at < texts.length; at += 150) {
        for (const [text, isAccepted] of accepted(target, texts.slice(at, at + 150))) {
          count++;
          const message = complaint(target, text);
          if ((message === null) !== isAccepted) different.push(`${text} [${target}]: ${message}`);
        }
      }
    }
    rmSync(folder, { recursive: true });
    expect(count).toBeGreaterThan(2000);
    expect(different).toEqual([]);
  },
  300_000,
);
