import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { projectRoot } from "./processes";

/** One folder of compiled programs for all workers of the run. It is deleted at the end. */
export function setup(): () => Promise<void> {
  const folder = path.join(projectRoot, "tests/.artifacts/programs", randomUUID());
  process.env.TEST_PROGRAMS = folder;
  return () => rm(folder, { recursive: true, force: true });
}
