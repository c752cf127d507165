import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { moveTempToMemory } from "./support/database/memory-folder";
import { LongestFirst } from "./support/longest-first";

const root = fileURLToPath(new URL("..", import.meta.url));
const withoutDatabase = ["tests/mail/**/*.test.ts", "tests/platform/**/*.test.ts", "tests/*.test.ts"];

moveTempToMemory();

/**
 * Two projects: tests without a database start immediately; the others share one embedded PostgreSQL for the
 * run.
 */
export default defineConfig({
  root,
  test: {
    root,
    // Many files wait for processes and deadlines: two more workers than cores keep the cores busy.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // Modules of ours have no state, so files are not isolated: those of one worker share loaded modules.
    projects: [
      {
        root,
        test: {
          name: "pure",
          isolate: false,
          root,
          include: withoutDatabase,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        root,
        test: {
          name: "service",
          isolate: false,
          root,
          include: ["tests/**/*.test.ts"],
          exclude: [
            ...withoutDatabase,
            "tests/e2e/**",
            "tests/product/**",
            "tests/startup/**",
            "tests/chaos/**",
            "tests/bench/**",
            "tests/fuzz/**",
          ],
          globalSetup: [
            "tests/support/database/global-postgres.ts",
            "tests/support/processes/global-programs.ts",
          ],
          setupFiles: ["tests/support/shared-rsa-keys.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
