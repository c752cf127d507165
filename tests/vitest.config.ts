import { availableParallelism } from "node:os";
import { configureSuites } from "./support/suites.ts";

/** They have configurations of their own. */
const others = ["bench", "chaos", "e2e", "fuzz", "load", "product", "startup"];

export default configureSuites({
  include: ["tests/**/*.test.ts"],
  exclude: others.map((folder) => `tests/${folder}/**`),
  setupFiles: ["tests/support/shared-rsa-keys.ts"],
  // Many files wait for processes and deadlines: more workers than cores keep the cores busy.
  maxWorkers: availableParallelism() + 2,
  provide: { isSample: true },
});
