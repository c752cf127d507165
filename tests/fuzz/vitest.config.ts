import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * 20,000 requests, good and odd ones, over all routes, in two halves that run side by side, each over a database of its own.
 * A small form of it belongs to the tests.
 */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/fuzz/**/*.test.ts"],
    globalSetup: ["tests/support/global-postgres.ts"],
    reporters: ["verbose"],
    maxWorkers: 2,
    testTimeout: 900_000,
    hookTimeout: 120_000,
  },
});
