import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { moveTempToMemory } from "../support/database/memory-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
moveTempToMemory();

/**
 * Overload, backlogs, concurrent writers and lost connections: suites that load the machine on purpose. They
 * run apart, so that neither slows down the other. Needs no build.
 */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/load/**/*.test.ts"],
    globalSetup: ["tests/support/database/global-postgres.ts"],
    setupFiles: ["tests/support/shared-rsa-keys.ts"],
    maxWorkers: availableParallelism() + 1,
    isolate: false,
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
  },
});
