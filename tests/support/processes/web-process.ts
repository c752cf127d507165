import { readSettings } from "#server/platform/env/settings";
import { createLog, errorFacts } from "#server/platform/log";
import { answerCall } from "#server/rest/dispatch";
import { buildDeps } from "#server/startup/deps";
import { openHttpServer } from "#server/startup/http/node";
import { admitWhenReachable } from "#server/startup/install/admit-secrets";
import { openSubmission } from "#server/startup/smtp/submission";

/**
 * The web process without the console's pages: the product's HTTP server, REST API and SMTP submission with
 * their own database connections. It starts in a second, so tests can kill it often.
 */
const log = createLog(
  (line) => process.stdout.write(`${line}\n`),
  () => new Date(),
);
const settings = readSettings(process.env, "start");
if (settings.databaseUrl === null) throw new Error("DATABASE_URL is missing");
const built = buildDeps(
  { ...settings, databaseUrl: settings.databaseUrl },
  { log, applicationName: "chaos web" },
);
// Requests are answered meanwhile, as in the product.
admitWhenReachable(built.deps).catch((error) => {
  log.error("secret.rejected", errorFacts(error));
  process.exit(1);
});
const deps = built.forRest({ tick: async () => built.deps.wake() });
const server = await openHttpServer({
  host: "127.0.0.1",
  port: settings.port,
  apiHost: null,
  rest: Promise.resolve({
    answer: (request, peer) => answerCall(deps, request, peer),
    isTrackingHost: async () => false,
    limitHeaders: async () => ({}),
  }),
  pages: {
    request: async (_, outgoing) => void outgoing.writeHead(404).end(),
    upgrade: async (_, socket) => void socket.destroy(),
  },
  upgrades: false,
  log,
});
await openSubmission(settings, deps);
process.send?.({ port: server.port });
process.on("disconnect", () => process.exit());
