import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import type { QueryDns } from "#server/mail/dns/dns";
import { recheckDomains } from "#server/services/domains/check/verify";
import { declareDomainVerified } from "#server/services/domains/write";
import { deliverDue } from "../support/pump-engine";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { openWorld } from "../support/world";

/*
 * Two teams claim one name. Each of the two resolvers has its own zone with the same content, so a test can
 * change one of them.
 */
const started = [await startZone(), await startZone()];
const zones = started.map(({ zone }) => zone);
const peers = started.map(({ peer }) => peer);
const world = await openWorld({ dnsServers: peers, transportKind: "capture" });
const other = await world.otherTeam();
const { token } = await world.key();
const { token: foreign } = await other.key();
afterAll(async () => {
  for (const peer of peers) await peer.close();
});
beforeEach(async () => {
  for (const zone of zones) zone.clear();
  await world.hot`delete from webhooks`;
  await world.hot`delete from domains where name <> 'backstamp.test'`;
});

type CheckedRecord = Listed & {
  purpose: string;
  status: string;
  check: { fault: string; advice: string } | null;
};
type Domain = {
  id: string;
  name: string;
  status: string;
  expires_at: string | null;
  records: CheckedRecord[];
};

let count = 0;
const newName = () => `claimed${++count}.example`;

async function request(method: string, path: string, by: string, body?: object): Promise<Domain> {
  const reply = await world.api(method, path, { token: by, body });
  expect([200, 201]).toContain(reply.status);
  return reply.body as unknown as Domain;
}
const create = (name: string, by: string) => request("POST", "/api/domains", by, { name });
const get = ({ id }: Domain, by: string) => request("GET", `/api/domains/${id}`, by);
const verify = ({ id }: Domain, by: string) => request("POST", `/api/domains/${id}/verify`, by);
const publishAll = (records: readonly Listed[]) => {
  for (const zone of zones) publish(zone, records);
};
const proofOf = ({ records }: Domain) => records.find(({ purpose }) => purpose === "ownership");
const mailFrom = (name: string) => ({ from: `a@${name}`, to: "ben@example.net", subject: "x", html: "x" });
const send = (name: string, by: string) =>
  world.api("POST", "/api/emails", { token: by, body: mailFrom(name) });
const auditOf = (teamId: string, action: string) =>
  world.hot`select actor, subject_name as name, detail from audit_log
    where team_id = ${teamId} and action = ${action}`;

/** A name that the first team has verified and the second team claims. */
async function contested() {
  const name = newName();
  const held = await create(name, token);
  publishAll(held.records);
  expect((await verify(held, token)).status).toBe("verified");
  return { name, held, claim: await create(name, foreign) };
}

describe("unverified claims", () => {
  test("coexist, and none reveals another", async () => {
    const name = newName();
    const [first, second] = [await create(name, token), await create(name, foreign)];
    expect(second.status).toBe("not_started");
    expect(JSON.stringify({ ...second, id: "", created_at: "" })).not.toContain(first.id);
    expect(Object.keys(second)).toEqual(Object.keys(await create(newName(), foreign)));
    publishAll(second.records);
    expect((await verify(second, foreign)).status).toBe("verified");
    expect((await verify(first, token)).status).not.toBe("verified");
    expect((await world.api("POST", "/api/domains", { token, body: { name } })).status).toBe(409);
  });

  test("do not reveal that another team has verified the name", async () => {
    const { held, claim } = await contested();
    expect(claim.status).toBe("not_started");
    const result = await verify(claim, foreign);
    expect(result.status).not.toBe("verified");
    expect(JSON.stringify(result)).not.toMatch(/another team|held_elsewhere/i);
    expect((await get(held, token)).status).toBe("verified");
    expect((await send(claim.name, foreign)).status).toBe(422);
  });

  test("expire after seven days, except domains that were verified once", async () => {
    const claim = await create(newName(), token);
    expect(Date.parse(String(claim.expires_at)) - Date.now()).toBeGreaterThan(6.9 * 86_400_000);
    const hook = { endpoint: "https://hooks.example.com/", events: ["domain.deleted"] };
    await request("POST", "/api/webhooks", token, hook);
    const { held, claim: foreignClaim } = await contested();
    expect((await get(held, token)).expires_at).toBeNull();
    await world.hot`update domains set status = 'failed', next_check_at = null where id = ${held.id}`;
    const round = () => tick({ ...world.deps, transport: null }, { budgetMs: 5_000 });
    await world.elapse("6 days 23 hours");
    await round();
    expect((await get(claim, token)).name).toBe(claim.name);
    await world.elapse("1 hour");
    await round();
    expect((await world.api("GET", `/api/domains/${claim.id}`, { token })).status).toBe(404);
    expect((await world.api("GET", `/api/domains/${foreignClaim.id}`, { token: foreign })).status).toBe(404);
    expect((await get(held, token)).status).toBe("failed");
    expect(await auditOf(world.id, "domain.expired")).toEqual([
      { actor: "system", name: claim.name, detail: {} },
    ]);
    const events = await world.hot<{ name: string }[]>`
      select payload::jsonb #>> '{data,name}' as name from webhook_deliveries where type = 'domain.deleted'`;
    expect(events.map(({ name }) => name)).toEqual([claim.name]);
    expect((await create(claim.name, token)).status).toBe("not_started");
  });
});

describe("a team that proves ownership of a name that another team has verified", () => {
  test("gets it immediately if two resolvers confirm that the other team's records are gone", async () => {
    const { name, held, claim } = await contested();
    await request("POST", "/api/webhooks", token, {
      endpoint: "https://hooks.example.com/",
      events: ["domain.updated"],
    });
    const queued = await send(name, token);
    expect(queued.status).toBe(200);
    publishAll(claim.records);
    const askedBefore = peers.map((peer) => peer.asked.length);
    expect(await verify(claim, foreign)).toMatchObject({ status: "verified", expires_at: null });
    const proof = proofOf(held)?.host;
    for (const [n, peer] of peers.entries())
      expect(peer.asked.slice(askedBefore[n]).map((question) => question.name)).toContain(proof);

    const lost = await get(held, token);
    expect(lost.status).toBe("failed");
    expect(proofOf(lost)?.check?.fault).toBe("wrong_value");
    expect(await auditOf(world.id, "domain.moved")).toEqual([
      { actor: "system", name, detail: { reason: expect.stringContaining("another team") } },
    ]);
    expect(await auditOf(other.id, "domain.moved")).toEqual([]);
    const events = await world.hot`
      select payload::jsonb #>> '{data,status}' as status from webhook_deliveries where type = 'domain.updated'`;
    expect(events).toMatchObject([{ status: "failed" }]);

    expect((await send(name, foreign)).status).toBe(200);
    expect((await send(name, token)).status).toBe(422);
    await deliverDue(world.withTransport());
    expect((await world.api("GET", `/api/emails/${queued.body.id}`, { token })).body).toMatchObject({
      status: "failed",
      recipients: [{ reason: expect.stringContaining("another team") }],
    });
  });

  test("stays pending with the reason while one of the two resolvers does not respond", async () => {
    const { held, claim } = await contested();
    publishAll(claim.records);
    const { resolvers } = world.deps;
    world.deps.resolvers = () => {
      const [first] = resolvers();
      const second: QueryDns = async (name, type) => ({
        name,
        type,
        kind: "timeout",
        resolver: "127.0.0.1:53",
      });
      return first ? [first, second] : [second];
    };
    const checked = await verify(claim, foreign);
    expect(checked.status).toBe("pending");
    expect(proofOf(checked)).toMatchObject({
      status: "pending",
      check: { fault: "held_elsewhere", advice: expect.stringContaining("could not confirm") },
    });
    expect((await get(held, token)).status).toBe("verified");
    expect((await send(claim.name, foreign)).status).toBe(422);
    expect((await send(claim.name, token)).status).toBe(200);
    world.deps.resolvers = resolvers;
    await world.elapse("1 min");
    await recheckDomains(world.deps, 100);
    expect([(await get(claim, foreign)).status, (await get(held, token)).status]).toEqual([
      "verified",
      "failed",
    ]);
  });

  test("stays pending while a record of the other team is visible, even at only one resolver", async () => {
    const { held, claim } = await contested();
    publishAll(claim.records);
    const [theirs, own] = [proofOf(held), proofOf(claim)];
    zones[1]?.set(own?.host ?? "", "TXT", String(own?.value), String(theirs?.value));
    const checked = await verify(claim, foreign);
    expect(checked.status).toBe("pending");
    expect(proofOf(checked)?.check?.advice).toContain(String(theirs?.host));
    expect(proofOf(checked)?.check?.advice).not.toContain(String(theirs?.value));
    expect((await get(held, token)).status).toBe("verified");
    expect(await auditOf(world.id, "domain.moved")).not.toContainEqual(
      expect.objectContaining({ name: claim.name }),
    );
  });

  test("stays pending if the operator verified the other team's domain manually", async () => {
    const { held, claim } = await contested();
    await declareDomainVerified(world.ctx, held.name);
    publishAll(claim.records);
    const checked = await verify(claim, foreign);
    expect(checked.status).toBe("pending");
    expect(proofOf(checked)?.check?.advice).toContain("operator");
    expect((await get(held, token)).status).toBe("verified");
    await expect(declareDomainVerified(other.ctx, claim.name)).rejects.toThrow(/another team/);
  });

  test("is one of two teams that prove it at the same time, and the other one gets the reason", async () => {
    const name = newName();
    const [first, second] = [await create(name, token), await create(name, foreign)];
    await world.hot`update dkim_keys set selector = 'second'
      where domain_id = ${second.id} and algorithm = 'rsa'`;
    const moved = await get(second, foreign);
    const proofs = [first, moved].map((domain) => proofOf(domain)?.value ?? "");
    publishAll([...first.records, ...moved.records]);
    for (const zone of zones) zone.set(`_backstamp.${name}`, "TXT", ...proofs);
    const checked = await Promise.all([verify(first, token), verify(moved, foreign)]);
    expect(checked.map(({ status }) => status).sort()).toEqual(["pending", "verified"]);
    const waiting = checked.find(({ status }) => status === "pending");
    expect(waiting && proofOf(waiting)?.check?.fault).toBe("held_elsewhere");
  });
});

test("with one resolver a second check, one hour after the first, must confirm that the other team's records are gone", async () => {
  const { resolvers } = world.deps;
  world.deps.resolvers = () => resolvers().slice(0, 1);
  const { held, claim } = await contested();
  const statusesAfter = async (interval: string) => {
    await world.elapse(interval);
    await recheckDomains(world.deps, 10);
    return [(await get(held, token)).status, (await get(claim, foreign)).status];
  };
  publishAll(claim.records);
  const first = await verify(claim, foreign);
  expect(proofOf(first)?.check?.advice).toContain("one DNS resolver");
  expect(await statusesAfter("30 min")).toEqual(["verified", "pending"]);
  // A record that reappears restarts the hour.
  publishAll(held.records);
  expect((await verify(held, token)).status).toBe("verified");
  publishAll(claim.records);
  expect(await statusesAfter("45 min")).toEqual(["verified", "pending"]);
  expect(await statusesAfter("61 min")).toEqual(["failed", "verified"]);
  world.deps.resolvers = resolvers;
});
