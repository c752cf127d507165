import { configureSuites } from "../support/suites.ts";

/**
 * 20,000 requests, valid and invalid, over all routes, in two parallel halves, each with its own database.
 * Also emails with unusual texts, all of which can be composed, and the check of all regular expressions.
 */
export default configureSuites({
  include: ["tests/fuzz/**/*.test.ts"],
  reporters: ["verbose"],
  isolate: true,
  maxWorkers: 2,
  testTimeout: 900_000,
});
