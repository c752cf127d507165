import { setTimeout as wait } from "node:timers/promises";
import type { Fault, FaultContext } from "../fault";
import type { Call } from "../records";

const atOnce = 50;

/** Many concurrent requests with one key to both web processes, then another body with the same key. */
export const duplicates: Fault = {
  name: "same-key",
  row: "duplicate POST, same key, at once; same key, other body",
  place: "relay",
  times: { full: 40, short: 3 },
  async inject({ rig, load, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n * atOnce;
      const { call, body } = load.createCall();
      const tries = await Promise.all(
        Array.from({ length: atOnce }, (_, webIndex) => load.post(call, body, webIndex)),
      );
      for (let again = 0; tries.every(({ id }) => id === null); again++)
        tries.push(await load.post(call, body, again));
      const ids = new Set(tries.flatMap(({ id }) => (id === null ? [] : [id])));
      if (ids.size !== 1) rig.addFinding(row, `${call.label}: ${ids.size} responses under one key`);
      const postOther = () => load.post(call, { ...body, html: "<p>Another one</p>" }, n);
      let other = await postOther();
      // The response to any request while the database is busy, as after these.
      while (other.status === 503) other = await postOther();
      if (other.status !== 409) rig.addFinding(row, `${call.label}: another body gets ${other.status}`);
    }
    return times * atOnce;
  },
};

const batchSize = 5;

/** All emails of a batch are accepted or none, whatever is killed meanwhile, and none if one is invalid. */
export const batches: Fault = {
  name: "batches",
  row: "batch partly bad; batch whose process is killed",
  place: "relay",
  times: { full: 20, short: 4 },
  isKill: true,
  async inject(context) {
    const { rig, load, random, row, times, isLate } = context;
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const emails = Array.from({ length: batchSize }, () => load.createCall());
      const key = `batch ${row} ${n}`;
      const isBad = n % 3 === 0;
      for (const { call } of emails) Object.assign(call, { key, isRefusable: isBad });
      const bodies = emails.map(({ body }, k) => (isBad && k === 3 ? { ...body, to: ["no address"] } : body));
      const who = n % 2 === 0 ? "web0" : "web1";
      await rig.processes.isUp(who);
      const calls = emails.map(({ call }) => call);
      const first = postBatch(context, calls, key, bodies, n % 2);
      await wait(random.upTo(12));
      await rig.disturb({ row, what: "kill", who }, () => rig.processes.kill(who));
      let wasTaken = await first;
      for (let again = 1; !isBad && !wasTaken && again < 200; again++) {
        await wait(50);
        wasTaken = await postBatch(context, calls, key, bodies, n + again);
      }
    }
    return times;
  },
};

/** One request for a batch. Records the response for each of its emails. */
async function postBatch(
  { rig }: FaultContext,
  calls: readonly Call[],
  key: string,
  bodies: readonly unknown[],
  webIndex: number,
): Promise<boolean> {
  const web = webIndex % 2;
  const sentAtMs = Date.now();
  let status: number | null = null;
  let ids: string[] = [];
  try {
    const response = await fetch(`${rig.processes.baseUrls[web === 0 ? 0 : 1]}/api/emails/batch`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${rig.token}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify(bodies),
      signal: AbortSignal.timeout(20_000),
    });
    const answer = (await response.json()) as { data?: { id: string }[] };
    status = response.status;
    if (response.ok) ids = (answer.data ?? []).map(({ id }) => id);
  } catch {
    // No response, which is already recorded.
  }
  const endedAtMs = Date.now();
  for (const [k, call] of calls.entries())
    call.tries.push({ web, sentAtMs, endedAtMs, status, id: ids[k] ?? null, wasRefused: false });
  return ids.length > 0;
}
