import { fileURLToPath } from "node:url";
import type { ViteUserConfig } from "vitest/config";
import { moveTempToMemory } from "./database/memory-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** All suites share one embedded PostgreSQL, and compiled programs. */
export const globalSetup = [
  "tests/support/database/global-postgres.ts",
  "tests/support/processes/global-programs.ts",
];

/** The configuration that all suites share, with what one of them changes. */
export function configureSuites(test: ViteUserConfig["test"]): ViteUserConfig {
  moveTempToMemory();
  return {
    root,
    test: {
      root,
      globalSetup,
      // Modules of ours have no state, so files are not isolated: those of one worker share loaded modules.
      isolate: false,
      // Compiled modules stay in node_modules, which saves a third of the time of a single file.
      experimental: { fsModuleCache: true },
      testTimeout: 60_000,
      expect: { poll: { timeout: 30_000 } },
      hookTimeout: 120_000,
      ...test,
    },
  };
}
