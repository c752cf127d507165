import { configureSuites, globalSetup } from "../support/suites.ts";

/**
 * The output of `npm run build`, started as `npm start` does and used only from outside. Also suites that
 * start whole processes for many seconds, or use programs of other projects.
 */
export default configureSuites({
  include: ["tests/product/**/*.test.ts", "tests/rest/interface*.test.ts"],
  globalSetup: ["tests/product/start.ts", ...globalSetup],
  fileParallelism: false,
  testTimeout: 180_000,
  hookTimeout: 180_000,
});
