import { availableParallelism } from "node:os";
import { configureSuites } from "../support/suites.ts";

/**
 * Overload, backlogs, concurrent writers and lost connections: suites that load the machine on purpose. They
 * run apart, so that neither slows down the other. Needs no build.
 */
export default configureSuites({
  include: ["tests/load/**/*.test.ts"],
  setupFiles: ["tests/support/shared-rsa-keys.ts"],
  maxWorkers: availableParallelism() + 1,
});
