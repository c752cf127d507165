import { configureSuites } from "../support/suites.ts";

/** Runs a real Chromium against the production build of `npm run build`. */
export default configureSuites({
  include: ["tests/e2e/**/*.test.ts"],
  // While one suite waits for a page, another one uses the core.
  maxWorkers: 3,
  testTimeout: 120_000,
  hookTimeout: 180_000,
});
