import { afterAll, beforeEach, expect, test } from "vitest";
import { recheckDomains } from "#server/services/domains/check/verify";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { openWorld } from "../support/world";

type Seen = Listed & { purpose: string; status: string; required: boolean; keep_until?: string | null };
type Domain = { id: string; name: string; status: string; records: Seen[] };

const { zone, peer } = await startZone();
const world = await openWorld({ dnsServers: [peer], connectionsMax: 8 });
const { token } = await world.key();
afterAll(() => peer.close());
beforeEach(() => zone.clear());

async function request(method: string, path: string, body?: object, status = 200): Promise<Domain> {
  const reply = await world.api(method, path, { token, body });
  expect(reply.status).toBe(status);
  return reply.body as unknown as Domain;
}
const verify = ({ id }: Domain) => request("POST", `/api/domains/${id}/verify`);
const rotate = ({ id }: Domain) => request("POST", `/api/domains/${id}/dkim/rotate`);
const show = ({ id }: Domain) => request("GET", `/api/domains/${id}`);
const purposes = ({ records }: Domain) =>
  records.map(({ purpose }) => purpose).filter((purpose) => purpose.startsWith("dkim"));
const pick = ({ records }: Domain, purpose: string) => records.filter((record) => record.purpose === purpose);

let count = 0;
/** A verified domain with all its records published except those in `without`. */
async function verified(without: string[] = []): Promise<Domain> {
  const made = await request("POST", "/api/domains", { name: `r${++count}.example` }, 201);
  publish(
    zone,
    made.records.filter(({ purpose }) => !without.includes(purpose)),
  );
  const domain = await verify(made);
  expect(domain.status).toBe("verified");
  return domain;
}

/** The algorithms and selectors that sign new email once all caches are current. */
async function signers({ id }: Domain): Promise<string[]> {
  const rows = await world.hot<{ key: string }[]>`
    select algorithm || ' ' || selector as key from dkim_keys
    where domain_id = ${id} and signs_from is not null and signs_until is null order by 1 desc`;
  return rows.map(({ key }) => key);
}

test("a domain is verified without its Ed25519 record, and signs with that key once the record is found", async () => {
  const domain = await verified(["dkim_ed25519"]);
  expect(pick(domain, "dkim_ed25519")).toMatchObject([{ status: "pending", required: false }]);
  expect(pick(domain, "dkim")).toMatchObject([{ status: "verified", required: true }]);
  expect(await signers(domain)).toEqual(["rsa backstamp"]);
  publish(zone, domain.records);
  await verify(domain);
  expect(await signers(domain)).toEqual(["rsa backstamp", "ed25519 backstamp-ed25519"]);
});

test("after a rotation the new keys sign only once their records are found", async () => {
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
  expect(rsa).toMatch(/^rsa backstamp-[0-9a-z]{6}$/);
  expect(ed25519).toMatch(/^ed25519 backstamp-ed25519-[0-9a-z]{6}$/);
});

test("two rotations, even concurrent ones, create one successor", async () => {
  const domain = await verified();
  const all = await Promise.all([rotate(domain), rotate(domain), rotate(domain)]);
  const rotated = await rotate(domain);
  expect(pick(rotated, "dkim_next")).toHaveLength(1);
  expect(all.map((each) => pick(each, "dkim_next").map(({ value }) => value))).toEqual(
    all.map(() => pick(rotated, "dkim_next").map(({ value }) => value)),
  );
});

test("the records of the successor are checked automatically, soon and at increasing intervals", async () => {
  const domain = await verified();
  const rotated = await rotate(domain);
  await recheckDomains(world.deps, 10);
  expect((await signers(domain))[0]).toBe("rsa backstamp");
  publish(zone, rotated.records);
  await world.elapse("2 min");
  await recheckDomains(world.deps, 10);
  expect((await signers(domain))[0]).not.toBe("rsa backstamp");
});

test("the old record stays listed until its email is gone, then it is deleted with its key", async () => {
  const domain = await verified();
  publish(zone, (await rotate(domain)).records);
  await verify(domain);
  const takenOver =
    "update dkim_keys set signs_until = now(), kept_until = now() + interval '7 days' where signs_until > now()";
  const newEmail = { from: `a@${domain.name}`, to: "ben@example.net", subject: "x", html: "x" };
  const { id } = await request("POST", "/api/emails", newEmail);
  await world.hot.unsafe(takenOver);
  const retired = pick(await show(domain), "dkim_retired");
  expect(retired).toHaveLength(2);
  for (const { status, keep_until, required } of retired)
    expect({ status, keep_until, required }).toEqual({
      status: "verified",
      keep_until: expect.any(String),
      required: false,
    });

  await world.elapse("7 days 1 min");
  await world.hot`update dkim_keys set kept_until = now() - interval '1 min' where kept_until is not null`;
  await verify(domain);
  expect(pick(await show(domain), "dkim_retired")).toHaveLength(2);
  await world.hot`update deliveries set status = 'sent' where email_id = ${id}`;
  await world.hot`update dkim_keys set kept_until = now() - interval '1 min' where kept_until is not null`;
  await verify(domain);
  expect(purposes(await show(domain))).toEqual(["dkim", "dkim_ed25519"]);
});

test("the keys of the built-in domain cannot be rotated", async () => {
  const { body } = await world.api("GET", "/api/domains", { token });
  const builtIn = (body.data as Domain[]).find(({ name }) => name === "backstamp.test");
  const reply = await world.api("POST", `/api/domains/${builtIn?.id}/dkim/rotate`, { token });
  expect(reply.status).toBe(409);
});
