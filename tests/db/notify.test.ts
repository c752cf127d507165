import { createServer, connect as dial, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { createWaker, listenForChanges, listenForDue } from "#db/notify";
import { freshDatabase } from "../support/database/postgres";
import { closeAfterTest } from "../support/fixtures";
import { listenOnLoopback } from "../support/servers/free-port";

let home: Awaited<ReturnType<typeof freshDatabase>>;
const eventually = { timeout: 20_000, interval: 10 };

beforeAll(async () => {
  home = await freshDatabase();
});
afterAll(() => home.drop());

function connect(options: { url?: string; pooled?: boolean } = {}): Database {
  const { url = home.url, pooled = false } = options;
  return closeAfterTest(openDatabase(url, { connectionsMax: 2, pooled }));
}

const listenersIn = async (database: Database): Promise<number> => {
  const [row] = await database.hot<{ count: number }[]>`
    select count(*)::int from pg_stat_activity
    where datname = current_database() and query ilike 'listen %'`;
  return row?.count ?? 0;
};

test("a notification of one process reaches another one", async () => {
  const onDue = vi.fn();
  listenForDue(connect().hot, onDue);
  await vi.waitFor(() => expect(onDue).toHaveBeenCalledTimes(1), eventually);
  createWaker(connect().hot)();
  await vi.waitFor(() => expect(onDue).toHaveBeenCalledTimes(2), eventually);
});

test("a burst of commits causes few notifications, and one follows the last commit", async () => {
  const notifier = connect();
  const notify = vi.spyOn(notifier.hot, "notify");
  const wake = createWaker(notifier.hot);
  for (let call = 0; call < 1000; call++) wake();
  expect(notify).toHaveBeenCalledTimes(1);
  await vi.waitFor(() => expect(notify).toHaveBeenCalledTimes(2), eventually);
});

test("a stopped listener is no longer called", async () => {
  const onDue = vi.fn();
  const listener = connect();
  const listening = listenForDue(listener.hot, onDue);
  await vi.waitFor(() => expect(onDue).toHaveBeenCalledTimes(1), eventually);
  await listening.stop();
  const onNotification = vi.fn();
  const notifier = connect();
  listenForDue(notifier.hot, onNotification);
  await vi.waitFor(() => expect(onNotification).toHaveBeenCalledTimes(1), eventually);
  createWaker(notifier.hot)();
  await vi.waitFor(() => expect(onNotification).toHaveBeenCalledTimes(2), eventually);
  expect(onDue).toHaveBeenCalledTimes(1);
});

test("a lost connection is replaced, and the listener is called for possibly missed notifications", async () => {
  const onDue = vi.fn();
  listenForDue(connect().hot, onDue);
  await vi.waitFor(() => expect(onDue).toHaveBeenCalledTimes(1), eventually);
  const other = connect();
  await other.hot`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen %'`;
  await vi.waitFor(() => expect(onDue.mock.calls.length).toBeGreaterThan(1), eventually);
  const before = onDue.mock.calls.length;
  createWaker(other.hot)();
  await vi.waitFor(() => expect(onDue.mock.calls.length).toBeGreaterThan(before), eventually);
});

test("without a database both only report the error, and listening starts when the database is available", async () => {
  const { url, forward } = await openGateway();
  const lost = connect({ url });
  const onDue = vi.fn();
  const onFault = vi.fn();
  listenForDue(lost.hot, onDue, onFault);
  await vi.waitFor(() => expect(onFault).toHaveBeenCalledTimes(1), eventually);
  createWaker(lost.hot, onFault)();
  await vi.waitFor(() => expect(onFault).toHaveBeenCalledTimes(2), eventually);
  expect(onDue).not.toHaveBeenCalled();
  forward();
  await vi.waitFor(() => expect(onDue).toHaveBeenCalled(), eventually);
});

test("a listener for changes reports that it does not listen until the database is available", async () => {
  const { url, forward } = await openGateway();
  const onFault = vi.fn();
  const isListening = listenForChanges(connect({ url }).hot, () => {}, onFault);
  await vi.waitFor(() => expect(onFault).toHaveBeenCalled(), eventually);
  expect(isListening()).toBe(false);
  forward();
  await vi.waitFor(() => expect(isListening()).toBe(true), eventually);
  expect(listenForChanges(connect({ pooled: true }).hot, () => {})()).toBe(false);
});

test("behind a transaction pooler there is no NOTIFY and no LISTEN", async () => {
  const pooled = connect({ pooled: true });
  // The connections of the test before are closed, and their backends exit a little later.
  await vi.waitFor(async () => expect(await listenersIn(pooled)).toBe(0), eventually);
  const notify = vi.spyOn(pooled.hot, "notify");
  const onDue = vi.fn();
  const listening = listenForDue(pooled.hot, onDue);
  createWaker(pooled.hot)();
  expect(notify).not.toHaveBeenCalled();
  expect(await listenersIn(pooled)).toBe(0);
  await listening.stop();
  expect(onDue).not.toHaveBeenCalled();
});

/** The URL of the database through a port that drops connections until `forward` is called. */
async function openGateway(): Promise<{ url: string; forward(): void }> {
  const url = new URL(home.url);
  const target = Number(url.port);
  const sockets = new Set<Socket>();
  let isOpen = false;
  const server = createServer((outer) => {
    if (!isOpen) return void outer.destroy();
    const inner = dial(target, "127.0.0.1");
    for (const socket of [outer, inner]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => outer.destroy() && inner.destroy());
    }
    outer.pipe(inner).pipe(outer);
  });
  url.port = String(await listenOnLoopback(server));
  closeAfterTest({
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return {
    url: url.href,
    forward: () => {
      isOpen = true;
    },
  };
}
