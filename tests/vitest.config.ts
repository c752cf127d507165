import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { moveTempToMemory } from "./support/database/memory-folder.ts";
import { LongestFirst } from "./support/longest-first.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** They have configurations of their own. */
const others = ["bench", "chaos", "e2e", "fuzz", "load", "product", "startup"];

moveTempToMemory();

/** All tests share one embedded PostgreSQL. */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/**/*.test.ts"],
    exclude: others.map((folder) => `tests/${folder}/**`),
    globalSetup: ["tests/support/database/global-postgres.ts", "tests/support/processes/global-programs.ts"],
    setupFiles: ["tests/support/shared-rsa-keys.ts"],
    // Many files wait for processes and deadlines: more workers than cores keep the cores busy.
    maxWorkers: availableParallelism() + 2,
    provide: { isSample: true },
    sequence: { sequencer: LongestFirst },
    // Modules of ours have no state, so files are not isolated: those of one worker share loaded modules.
    isolate: false,
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
  },
});
