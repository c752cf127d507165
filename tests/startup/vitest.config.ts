import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { moveTempToMemory } from "../support/database/memory-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
moveTempToMemory();

/** The command line and the startup, as processes of their own. Unlike `test:product`, they need no build. */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/startup/**/*.test.ts"],
    globalSetup: ["tests/support/database/global-postgres.ts", "tests/support/processes/global-programs.ts"],
    setupFiles: ["tests/support/shared-rsa-keys.ts"],
    maxWorkers: availableParallelism(),
    isolate: false,
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
  },
});
