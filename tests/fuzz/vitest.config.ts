import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * 20,000 requests, valid and invalid, over all routes, in two parallel halves, each with its own database.
 * Also emails with unusual texts, all of which can be composed, and the check of all regular expressions.
 */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/fuzz/**/*.test.ts"],
    globalSetup: ["tests/support/database/global-postgres.ts"],
    reporters: ["verbose"],
    maxWorkers: 2,
    testTimeout: 900_000,
    hookTimeout: 120_000,
  },
});
