import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { moveTempToMemory } from "../support/database/memory-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
moveTempToMemory();

/**
 * The output of `npm run build`, started as `npm start` does and used only from outside. Also suites that
 * start whole processes for many seconds, or use programs of other projects.
 */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/product/**/*.test.ts", "tests/rest/interface*.test.ts"],
    globalSetup: [
      "tests/product/start.ts",
      "tests/support/database/global-postgres.ts",
      "tests/support/processes/global-programs.ts",
    ],
    fileParallelism: false,
    isolate: false,
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 180_000,
  },
});
