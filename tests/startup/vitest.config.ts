import { availableParallelism } from "node:os";
import { configureSuites } from "../support/suites.ts";

/** The command line and the startup, as processes of their own. Unlike `test:product`, they need no build. */
export default configureSuites({
  include: ["tests/startup/**/*.test.ts"],
  setupFiles: ["tests/support/shared-rsa-keys.ts"],
  maxWorkers: availableParallelism(),
});
