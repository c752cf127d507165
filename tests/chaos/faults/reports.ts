import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { deriveKey } from "#server/platform/secrets/secrets";
import { dsn, failed } from "../../mail/bounce/messages";
import { installationSecret } from "../../support/deps";
import type { SinkReply } from "../../support/servers/http-sink";
import type { Fault, FaultContext } from "../fault";
import { SUBSCRIBED_EVENTS } from "../hooks";
import { destinationOf } from "../internet";

const patienceMs = 60_000;
/** Each kill restarts a web process, which takes long on a busy machine. */
const reportsPatienceMs = 300_000;
const dripMs = 200;
const pollMs = 250;

/** Failures of an endpoint. One of them delays the response for the maximum time of a call. */
const REPLIES: readonly SinkReply[] = [
  500,
  { status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" } },
  (response) => response.destroy(),
  { status: 503, headers: { "retry-after": "1" } },
  (response) => {
    response.writeHead(500);
    const drip = setInterval(() => response.write("."), dripMs);
    response.on("close", () => clearInterval(drip));
  },
  { status: 500, body: "x".repeat(2_000_000) },
  { status: 500, headers: { "content-encoding": "gzip" }, body: gzipSync(Buffer.alloc(5_000_000)) },
  429,
  (response) => response.socket?.end("HTTP/1.1 what\r\n\r\n"),
  404,
];

/** The rig's endpoint fails in several ways. A second endpoint never responds. */
export const webhooks: Fault = {
  name: "webhooks",
  row: "webhook 500 / timeout / slow drip / huge / gzip bomb / redirect; target down; event without its event delivery",
  place: "relay",
  times: { full: 60, short: 8 },
  async inject({ rig, row, times, isLate }) {
    const addDead = () =>
      rig.api("POST", "/api/webhooks", { endpoint: "http://127.0.0.1:9/dead", events: SUBSCRIBED_EVENTS });
    let dead = await addDead();
    // A process that was just restarted encrypts nothing until the database has admitted its secret.
    for (const endMs = Date.now() + patienceMs; dead.status === 503 && Date.now() < endMs; ) {
      await wait(pollMs);
      dead = await addDead();
    }
    if (dead.status !== 201) rig.addFinding(row, `the second endpoint got the response ${dead.status}`);
    const before = rig.hooks.serverFaults();
    rig.hooks.destinationFault(REPLIES);
    const untilMs = Date.now() + patienceMs;
    while (rig.hooks.serverFaults() - before < times && Date.now() < untilMs && !isLate()) await wait(100);
    rig.hooks.destinationFault([]);
    await rig.api("DELETE", `/api/webhooks/${dead.body.id}`);
    return rig.hooks.serverFaults() - before;
  },
};

/**
 * What a server has accepted it returns later, twice, while the processes that receive reports are killed.
 */
export const returns: Fault = {
  name: "returns",
  row: "250 first, bounce later, reported twice and in any order",
  place: "direct",
  times: { full: 20, short: 0 },
  isKill: true,
  load: { destinations: ["returned", "returned", "ok"] },
  async inject(context) {
    const { rig, load, random, row, times, isLate } = context;
    const before = load.accepted();
    while (load.accepted() - before < times * 2 && !isLate()) await wait(50);
    await load.stop();
    const reported = new Set<string>();
    let kills = 0;
    for (const untilMs = Date.now() + reportsPatienceMs; Date.now() < untilMs; await wait(100)) {
      for (const { from, to } of random.shuffled(rig.sunk()))
        for (const address of to) {
          if (destinationOf(address) !== "returned" || reported.has(address)) continue;
          const report = reportOn(context, from, address, random.chance(0.5) ? 1 : 0);
          if (kills < times && random.chance(0.3)) {
            const who = random.chance(0.5) ? "web0" : "web1";
            await rig.processes.isUp(who);
            kills++;
            await rig.disturb({ row, what: "kill", who }, () => rig.processes.kill(who));
          }
          if (await report) reported.add(address);
        }
      const [open] = await rig.ask(
        (hot) => hot<{ n: number }[]>`
          select count(*)::int as n from deliveries where domain like 'returned.%' and status <> 'bounced'`,
      );
      if (open?.n === 0) return reported.size;
    }
    return reported.size;
  },
};

/** Submits a report, twice at once. True if both were accepted. */
async function reportOn(
  { rig }: FaultContext,
  returnPath: string,
  address: string,
  webIndex: 0 | 1,
): Promise<boolean> {
  const body = dsn({
    recipients: [failed(address, "550 5.1.1 no such user", "5.1.1")],
    to: returnPath,
    id: `report-on-${address.replace(/@.*/, "")}`,
  });
  const handIn = async (web: 0 | 1): Promise<boolean> => {
    await rig.processes.isUp(`web${web}`);
    const url = `${rig.processes.baseUrls[web]}/api/inbound/message?recipient=${encodeURIComponent(returnPath)}`;
    const headers = {
      authorization: `Bearer ${deriveKey(installationSecret, "inbound")}`,
      "content-type": "message/rfc822",
    };
    const answer = await fetch(url, { method: "POST", headers, body: new Uint8Array(body) }).catch(
      () => null,
    );
    return answer?.status === 200;
  };
  const taken = await Promise.all([handIn(webIndex), handIn(webIndex === 0 ? 1 : 0)]);
  return taken.every(Boolean);
}
