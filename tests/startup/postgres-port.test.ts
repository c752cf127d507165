import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { findBinaries } from "#server/startup/postgres/binaries";
import { locateCluster } from "#server/startup/postgres/cluster-location";
import { createCluster, ensurePassword } from "#server/startup/postgres/initialise";
import { stopPostmaster } from "#server/startup/postgres/postmaster";
import { launchOnFreePort } from "#server/startup/postgres/server";

test("the embedded database starts on another port if a socket has taken the one that was free", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-port-"));
  // On 127.0.0.1, where ports are chosen, this one is free.
  const taker = createServer().listen(0, "127.0.0.2");
  await once(taker, "listening");
  try {
    const { port: taken } = taker.address() as { port: number };
    const place = await locateCluster(folder);
    const { initdb, postgres } = await findBinaries(place.home, place.account);
    const password = await ensurePassword(place.home, place.pgdata);
    await createCluster(place, { initdb, user: "backstamp", password, isQuick: true });
    const settings = { listen_addresses: "127.0.0.2", unix_socket_directories: "" };
    const { server, port } = await launchOnFreePort(place, postgres, settings, taken);
    expect(port).not.toBe(taken);
    await stopPostmaster(server.pid as number, place.pgdata);
  } finally {
    taker.close();
    await rm(folder, { recursive: true, force: true });
  }
});
