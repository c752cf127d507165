import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { moveTempToMemory } from "../support/database/memory-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
moveTempToMemory();

/** Runs a real Chromium against the production build of `npm run build`. All suites share one PostgreSQL. */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/e2e/**/*.test.ts"],
    globalSetup: ["tests/support/database/global-postgres.ts", "tests/support/processes/global-programs.ts"],
    // While one suite waits for a page, another one uses the core. Files of one worker share loaded modules.
    maxWorkers: 3,
    isolate: false,
    testTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 180_000,
  },
});
