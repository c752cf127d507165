import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { findMemoryFolder } from "./support/database/memory-folder";

const root = fileURLToPath(new URL("..", import.meta.url));
const withoutDatabase = ["tests/mail/**/*.test.ts", "tests/platform/**/*.test.ts", "tests/*.test.ts"];

// For this process and all that it starts.
const memory = findMemoryFolder();
if (memory !== null) process.env.TMPDIR ??= memory;

/** Two projects: what needs no database starts at once; the rest shares one embedded PostgreSQL for the run. */
export default defineConfig({
  root,
  test: {
    root,
    // The files share PostgreSQL and the machine and wait for both: one worker a core leaves neither idle.
    maxWorkers: "100%",
    // Nothing of ours is kept in modules, so no project isolates its files: those of one worker share what is loaded.
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
            "tests/chaos/**",
            "tests/bench/**",
            "tests/fuzz/**",
          ],
          globalSetup: ["tests/support/database/global-postgres.ts"],
          setupFiles: ["tests/support/shared-rsa-keys.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
