import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";

test("a data directory of another major version is refused with the commands that bring it over, and stays as it is", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "backstamp-major-"));
  const version = path.join(dataDir, "postgres", "PG_VERSION");
  await mkdir(path.dirname(version));
  await writeFile(version, "17\n");
  const error = await startEmbeddedPostgres({ dataDir, log: silentLog }).catch((thrown: Error) => thrown);
  expect(error).toMatchObject({
    name: "OperatorError",
    message: expect.stringMatching(
      /created by PostgreSQL 17, .* contains PostgreSQL \d+.*Stop Backstamp\..*backup \S+\n.*mv \S+ \S+\n.*restore \S+\n.*release --all$/s,
    ),
  });
  expect(await readFile(version, "utf8")).toBe("17\n");
  await rm(dataDir, { recursive: true });
});
