import { expect, test } from "vitest";
import { complaint, readInstances } from "./instances.ts";

test("the checker agrees with ptxas on every instance", () => {
  const instances = readInstances();
  expect(instances.length).toBeGreaterThan(750);
  const wrong = instances.flatMap(({ target, text, accepted }) => {
    const message = complaint(target, text);
    return (message === null) === accepted ? [] : [`${accepted ? "+" : "-"} ${text} [${target}]: ${message}`];
  });
  expect(wrong).toEqual([]);
});
