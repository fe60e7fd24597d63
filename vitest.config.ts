import { defineConfig } from "vitest/config";

// The limit is for tests that hang: what is slow on a busy machine is not wrong. Speed is measured in bench/.
const limit = 600_000;

export default defineConfig({
  test: { include: ["test/**/*.test.ts"], testTimeout: limit, hookTimeout: limit, maxWorkers: 2 },
});
