import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildInstrumented, type FunctionPlace } from "./instrument";

export type Step = FunctionPlace & { calls: number };

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Below the project, so that the bundle finds its packages. */
const artifacts = path.join(root, "tests/.artifacts");

/**
 * The functions of ours that one `POST /api/emails` passes, from the socket to the commit, in the order of
 * their first call. A callback is a part of the function that passes it on, so it is not listed if that
 * function is. Creates its tables in the database.
 */
export async function traceAcceptedEmail(databaseUrl: string): Promise<Step[]> {
  await mkdir(artifacts, { recursive: true });
  const folder = await mkdtemp(path.join(artifacts, "trace-"));
  try {
    const program = path.join(folder, "program.mjs");
    const places = await buildInstrumented(root, path.join(root, "tests/trace/program.ts"), program);
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      cwd: root,
      env: { PATH: process.env.PATH, NODE_ENV: "production", DATABASE_URL: databaseUrl },
    });
    const calls = new Map(JSON.parse(stdout) as [number, number][]);
    return [...calls].flatMap(([index, count]) => {
      const place = places[index];
      if (!place) throw new RangeError(`There is no function ${index}`);
      return place.parent !== null && calls.has(place.parent) ? [] : [{ ...place, calls: count }];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
