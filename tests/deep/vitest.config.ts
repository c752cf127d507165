import { defineConfig } from "vitest/config";
import config from "../vitest.config.ts";

/**
 * The suites that call every route and procedure with everything, whole. `npm test` runs a sample of them.
 */
export default defineConfig({
  ...config,
  test: { ...config.test, include: ["tests/deep/**/*.test.ts"], provide: { isSample: false } },
});
