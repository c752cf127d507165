import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { recheckDomains } from "#server/services/domains/verify";
import type { DnsPeer } from "../support/dns-peer";
import { createWorld, type World } from "../support/world";
import { type Listed, publish, startZone, type Zone } from "../support/zone";

type Seen = Listed & { purpose: string; status: string; required: boolean; keep_until?: string | null };
type Domain = { id: string; name: string; status: string; records: Seen[] };

let world: World;
let zone: Zone;
let peer: DnsPeer;
let token: string;
beforeAll(async () => {
  ({ zone, peer } = await startZone());
  world = await createWorld({ dnsServers: [peer] });
  ({ token } = await world.key());
});
afterAll(async () => {
  await world.close();
  await peer.close();
});
beforeEach(() => zone.clear());

async function ask(method: string, path: string, body?: object, status = 200): Promise<Domain> {
  const reply = await world.api(method, path, { token, ...(body && { body }) });
  expect(reply.status).toBe(status);
  return reply.body as unknown as Domain;
}
const verify = ({ id }: Domain) => ask("POST", `/api/domains/${id}/verify`);
const rotate = ({ id }: Domain) => ask("POST", `/api/domains/${id}/dkim/rotate`);
const show = ({ id }: Domain) => ask("GET", `/api/domains/${id}`);
const purposes = ({ records }: Domain) =>
  records.map(({ purpose }) => purpose).filter((purpose) => purpose.startsWith("dkim"));
const pick = ({ records }: Domain, purpose: string) => records.filter((record) => record.purpose === purpose);

let count = 0;
/** A verified domain, all of whose records are published but those that `without` names. */
async function verified(without: string[] = []): Promise<Domain> {
  const made = await ask("POST", "/api/domains", { name: `r${++count}.example` }, 201);
  publish(
    zone,
    made.records.filter(({ purpose }) => !without.includes(purpose)),
  );
  const domain = await verify(made);
  expect(domain.status).toBe("verified");
  return domain;
}

/** The algorithms and selectors that sign what is accepted once everybody knows of the present state. */
async function signers({ id }: Domain): Promise<string[]> {
  const rows = await world.deps.hot<{ key: string }[]>`
    select algorithm || ' ' || selector as key from dkim_keys
    where domain_id = ${id} and signs_from is not null and signs_until is null order by 1 desc`;
  return rows.map(({ key }) => key);
}

test("a domain is verified without its Ed25519 record, and signs with that key once the record is seen", async () => {
  const domain = await verified(["dkim_ed25519"]);
  expect(pick(domain, "dkim_ed25519")).toMatchObject([{ status: "pending", required: false }]);
  expect(pick(domain, "dkim")).toMatchObject([{ status: "verified", required: true }]);
  expect(await signers(domain)).toEqual(["rsa posthorn"]);
  publish(zone, domain.records);
  await verify(domain);
  expect(await signers(domain)).toEqual(["rsa posthorn", "ed25519 posthorn-ed25519"]);
});

test("a rotation signs with the new keys once they are seen, and not before", async () => {
  const domain = await verified();
  const before = await signers(domain);
  const rotated = await rotate(domain);
  expect(purposes(rotated)).toEqual(["dkim", "dkim_next", "dkim_ed25519", "dkim_ed25519"]);
  expect(rotated.status).toBe("verified");
  expect((await verify(rotated)).status).toBe("verified");
  expect(await signers(domain)).toEqual(before);

  publish(zone, rotated.records);
  const after = await verify(rotated);
  expect(after.status).toBe("verified");
  const [rsa, ed25519, ...more] = await signers(domain);
  expect(more).toEqual([]);
  expect(rsa).toMatch(/^rsa posthorn-[0-9a-z]{6}$/);
  expect(ed25519).toMatch(/^ed25519 posthorn-ed25519-[0-9a-z]{6}$/);
});

test("asked for twice a rotation makes one successor, also at once", async () => {
  const domain = await verified();
  const all = await Promise.all([rotate(domain), rotate(domain), rotate(domain)]);
  const shown = await rotate(domain);
  expect(pick(shown, "dkim_next")).toHaveLength(1);
  expect(all.map((each) => pick(each, "dkim_next").map(({ value }) => value))).toEqual(
    all.map(() => pick(shown, "dkim_next").map(({ value }) => value)),
  );
});

test("the successor is looked for by itself, soon and at growing intervals", async () => {
  const domain = await verified();
  const rotated = await rotate(domain);
  await recheckDomains(world.deps, 10);
  expect((await signers(domain))[0]).toBe("rsa posthorn");
  publish(zone, rotated.records);
  await world.elapse("2 min");
  await recheckDomains(world.deps, 10);
  expect((await signers(domain))[0]).not.toBe("rsa posthorn");
});

test("the old record stays asked for until mail of its time is gone, and then is forgotten with its key", async () => {
  const domain = await verified();
  publish(zone, (await rotate(domain)).records);
  await verify(domain);
  const takenOver =
    "update dkim_keys set signs_until = now(), kept_until = now() + interval '7 days' where signs_until > now()";
  const mail = { from: `a@${domain.name}`, to: "ben@example.net", subject: "x", html: "x" };
  const { id } = await ask("POST", "/api/emails", mail);
  await world.deps.hot.unsafe(takenOver);
  const retired = pick(await show(domain), "dkim_retired");
  expect(retired).toHaveLength(2);
  for (const { status, keep_until, required } of retired)
    expect({ status, keep_until, required }).toEqual({
      status: "verified",
      keep_until: expect.any(String),
      required: false,
    });

  await world.elapse("7 days 1 min");
  await world.deps
    .hot`update dkim_keys set kept_until = now() - interval '1 min' where kept_until is not null`;
  await verify(domain);
  expect(pick(await show(domain), "dkim_retired")).toHaveLength(2);
  await world.deps.hot`update deliveries set status = 'sent' where email_id = ${id}`;
  await world.deps
    .hot`update dkim_keys set kept_until = now() - interval '1 min' where kept_until is not null`;
  await verify(domain);
  expect(purposes(await show(domain))).toEqual(["dkim", "dkim_ed25519"]);
});

test("the built-in domain has no keys to rotate", async () => {
  const { body } = await world.api("GET", "/api/domains", { token });
  const builtIn = (body.data as Domain[]).find(({ name }) => name === "posthorn.test");
  const reply = await world.api("POST", `/api/domains/${builtIn?.id}/dkim/rotate`, { token });
  expect(reply.status).toBe(409);
});
