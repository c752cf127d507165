import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { silentLog } from "#server/platform/log";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { traceAcceptedEmail } from "./trace";

const dataDir = await mkdtemp(path.join(tmpdir(), "backstamp-trace-"));
const postgres = await startEmbeddedPostgres({ dataDir, log: silentLog, quick: true });
try {
  const steps = await traceAcceptedEmail(postgres.url);
  for (const [index, { name, file, line, calls, isForwarding }] of steps.entries()) {
    const notes = [calls > 1 ? `${calls} calls` : "", isForwarding ? "only forwards" : ""]
      .filter(Boolean)
      .join(", ");
    process.stdout.write(
      `${String(index + 1).padStart(3)}  ${`${file}:${line}`.padEnd(56)} ${name}  ${notes}\n`,
    );
  }
  const forwarding = steps.filter(({ isForwarding }) => isForwarding).length;
  process.stdout.write(
    `\n${steps.length} functions from the socket to the commit; ${forwarding} only forward.\n`,
  );
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
