import { availableParallelism } from "node:os";
import { createDomain, declareDomainVerified } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { admitKeyring } from "#server/services/secrets/registry";
import { freePort } from "../../support/servers/free-port";
import type { AcceptCommands } from "../accept-child";
import type { Place } from "../bench-database";
import type { DeliverCommands } from "../deliver-child";
import { press } from "../load";
import { nothingDue } from "../queue";
import { acceptTarget, SENDER_DOMAIN } from "../sample-email";
import { startChild } from "../start-child";
import { type Cpu, readCpu } from "../whole-path";
import { connectionsIn, connectionsOut } from "./rival";

/** Its emails are signed, with RSA of 2048 bits and with Ed25519. */
const SIGNED_DOMAIN = "signed.example";
const unlimited = 1_000_000_000;
const pollMs = 25;
const drainMaxMs = 120_000;

/** Whether its emails are signed. */
export type Kind = "unsigned" | "signed";
export type Backstamp = Awaited<ReturnType<typeof openBackstamp>>;

/** Starts a web process, and processes for workers, which send to this port. */
export async function openBackstamp(place: Place, sinkPort: number) {
  const database = await place.openDatabase();
  const { hot, ctx } = database;
  await admitKeyring(ctx);
  await createDomain(ctx, { name: SIGNED_DOMAIN });
  await declareDomainVerified(ctx, SIGNED_DOMAIN);
  // As if its record had been found in DNS long ago.
  await hot`update dkim_keys set signs_from = now() - interval '1 hour'`;
  const { token } = await createKey(ctx, {
    name: "rivals",
    scopes: ["emails:send"],
    domains: "all",
    limits: { "POST /api/emails": unlimited, other: unlimited },
  });

  const web = await startChild<AcceptCommands>("accept-child.ts");
  const worker = await startChild<DeliverCommands>("deliver-child.ts");
  const workers = [worker];
  while (workers.length < availableParallelism())
    workers.push(await startChild<DeliverCommands>("deliver-child.ts"));
  const env = { BACKSTAMP_SMTP_PORT: `127.0.0.1:${await freePort()}` };
  const { serverPort, submissionPort } = await web.ask("open", { databaseUrl: database.url, env });
  const unsigned = acceptTarget(serverPort, token);
  const targets = {
    unsigned,
    signed: { ...unsigned, body: unsigned.body?.replaceAll(SENDER_DOMAIN, SIGNED_DOMAIN) },
  };
  const smtpUrl = `smtp://127.0.0.1:${sinkPort}?pool=${connectionsOut}`;
  return {
    submissionPort,
    token,
    /** Accepts this number of emails over HTTP. */
    accept: (kind: Kind, amount: number) =>
      press({ ...targets[kind], amount, connections: Math.min(amount, connectionsIn) }),
    startWorker: () => worker.ask("startEngine", { databaseUrl: database.url, smtpUrl }),
    stopWorker: () => worker.ask("stopEngine"),
    /** A worker for each core. */
    startWorkers: () =>
      Promise.all(workers.map((each) => each.ask("startEngine", { databaseUrl: database.url, smtpUrl }))),
    stopWorkers: () => Promise.all(workers.map((each) => each.ask("stopEngine"))),
    /** Waits until every accepted email has its result. */
    drained: () => nothingDue(hot, drainMaxMs, pollMs),
    discard: () => hot`truncate emails, email_bodies, email_events, deliveries, queue`,
    readCpu: (): Promise<Cpu> => readCpu(hot, web, worker),
    async close() {
      await Promise.all([web, ...workers].map((child) => child.end()));
      await database.drop();
    },
  };
}
