import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { newId } from "#server/platform/ids";
import { silentLog } from "#server/platform/log";
import { answerCall } from "#server/rest/dispatch";
import { buildDeps } from "#server/startup/deps";
import { createConsoleDoctor } from "#server/startup/doctor-deps";
import { openHttpServer, type Pages } from "#server/startup/http/node";
import { openPages } from "#server/startup/http/pages";
import { provideDeps } from "#server/startup/next";
import { openSubmission } from "#server/startup/smtp/submission";
import { listenOnLoopback } from "../support/servers/free-port";
import { settingsFor } from "./bench-database";
import { answerParent, usage } from "./child";

type Opened = { databaseUrl: string; productFolder?: string; env?: Record<string, string> };

let close = async (): Promise<void> => {};

const commands = {
  /**
   * Starts a web process in the same way as the launcher: its HTTP server, and with a production build also
   * Next alone on another port, as on Vercel. Where the server would respond with pages, the baseline
   * responds through the same server. Submission is open if `env` has its port.
   */
  async open({ databaseUrl, productFolder, env = {} }: Opened) {
    const settings = settingsFor(databaseUrl, env);
    const built = buildDeps(settings, { log: silentLog, applicationName: "bench web" });
    const rest = built.forRest({ tick: async () => {} });
    provideDeps(rest, { url: settings.url, examine: createConsoleDoctor(built.deps, settings) });
    const server = await openHttpServer({
      host: "127.0.0.1",
      port: 0,
      apiHost: null,
      rest: Promise.resolve({
        answer: (request, peer) => answerCall(rest, request, peer),
        isTrackingHost: async () => false,
        limitHeaders: async () => ({}),
      }),
      pages: await openBaseline(built.deps.hot),
      upgrades: false,
      log: silentLog,
    });
    const submission = await openSubmission(settings, rest);
    const next = productFolder === undefined ? null : await openNext(productFolder);
    close = async () => {
      await Promise.all([server.close(1_000), submission.close()]);
      await next?.close();
      await built.close();
    };
    return { serverPort: server.port, nextPort: next?.port ?? 0, submissionPort: submission.port ?? 0 };
  },
  usage,
};
export type AcceptCommands = typeof commands;

/** Reads the body as JSON and inserts one row with a prepared statement, on the same pool. */
async function openBaseline(hot: ReturnType<typeof buildDeps>["deps"]["hot"]): Promise<Pages> {
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
  const port = await listenOnLoopback(server);
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
