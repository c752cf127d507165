import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { buildDeps } from "#server/boot/deps";
import { provideDeps } from "#server/boot/next";
import { openDoor, type Pages } from "#server/boot/node";
import { openPages } from "#server/boot/pages";
import { newId } from "#server/ids";
import { silentLog } from "#server/log";
import { dispatch } from "#server/rest/dispatch";
import { answerParent, usage } from "./child";
import { settingsFor } from "./place";

type Opened = { databaseUrl: string; productFolder?: string; env?: Record<string, string> };

let close = async (): Promise<void> => {};

const commands = {
  /**
   * Opens a web process as the launcher makes it: its door, and with a built product Next alone on a port of its own, as
   * on Vercel. Where the door would ask for pages, the floor answers through the same server.
   */
  async open({ databaseUrl, productFolder, env = {} }: Opened) {
    const settings = settingsFor(databaseUrl, env);
    const built = buildDeps(settings, { log: silentLog, applicationName: "bench web" });
    const rest = built.forRest({ tick: async () => {} });
    provideDeps(rest, { url: settings.url, secret: "bench" });
    const door = await openDoor({
      host: "127.0.0.1",
      port: 0,
      apiHost: null,
      rest: Promise.resolve({
        answer: (request, peer) => dispatch(rest, request, peer),
        limitHeaders: async () => ({}),
      }),
      pages: await openFloor(built.deps.hot),
      upgrades: false,
      log: silentLog,
    });
    const next = productFolder === undefined ? null : await openNext(productFolder);
    close = async () => {
      await door.close(1_000);
      await next?.close();
      await built.close();
    };
    return { doorPort: door.port, nextPort: next?.port ?? 0 };
  },
  usage,
};
export type AcceptCommands = typeof commands;

/** Reads the body as JSON and inserts one row, by a prepared statement, on the same pool. */
async function openFloor(hot: ReturnType<typeof buildDeps>["deps"]["hot"]): Promise<Pages> {
  await hot`create table if not exists bench_rows (
    id uuid primary key, sender text not null, recipient text not null, subject text not null, html text not null)`;
  const insertOne = async (request: Request): Promise<Response> => {
    const { from, to, subject, html } = (await request.json()) as Record<string, string>;
    const id = newId();
    await hot`insert into bench_rows (id, sender, recipient, subject, html)
              values (${id}, ${from ?? ""}, ${to ?? ""}, ${subject ?? ""}, ${html ?? ""})`;
    return new Response(JSON.stringify({ id }), { headers: { "content-type": "application/json" } });
  };
  const listen = getRequestListener(insertOne, { hostname: "localhost", overrideGlobalObjects: false });
  return {
    request: async (incoming, outgoing) => void (await listen(incoming, outgoing)),
    upgrade: async (_, socket) => void socket.destroy(),
  };
}

async function openNext(folder: string): Promise<{ port: number; close(): Promise<void> }> {
  const after = Promise.resolve();
  const pages = openPages({ isDev: false, folder, host: "127.0.0.1", port: 0, log: silentLog, after });
  await pages.prepare();
  const server = createServer((incoming, outgoing) => void pages.request(incoming, outgoing));
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(address && typeof address === "object" ? address.port : 0);
    });
  });
  return {
    port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pages.close();
    },
  };
}

answerParent(commands, () => close());
