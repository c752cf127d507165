import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A real Chromium against the production build, which `npm run build` has made. */
export default defineConfig({
  root,
  test: {
    root,
    include: ["tests/e2e/**/*.test.ts"],
    // A page that is waited for leaves its core to another suite's. Files of one worker share what is loaded.
    maxWorkers: 3,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
