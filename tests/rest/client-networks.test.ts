import { expect, test } from "vitest";
import { findUncovered, isInNetworks, parseNetwork } from "#server/platform/http/client-networks";
import { rejected } from "../support/rejected";
import { openWorld } from "../support/world";

const BODY = '{"error":"Insufficient API key permissions"}';
const world = await openWorld({ trustedHops: 1 });

/** Calls through a trusted proxy that saw the client at this address. */
const call = (token: string, address: string, method: string, path: string, body?: unknown) =>
  world.api(method, path, {
    token,
    headers: { "x-forwarded-for": address },
    body,
  });

test("a network is normalized, and anything else is rejected", () => {
  expect(
    ["192.0.2.7/24", "192.0.2.7", "2001:DB8::1/32", "::ffff:192.0.2.7/120", "::/0"].map(parseNetwork),
  ).toEqual(["192.0.2.0/24", "192.0.2.7/32", "2001:db8::/32", "192.0.2.0/24", "::/0"]);
  for (const text of [
    "",
    "10.1",
    "192.0.2.0/33",
    "::/129",
    "::ffff:0:0/95",
    "192.0.2.0/",
    "example.com",
    "fe80::1%eth0",
  ])
    expect({ text, network: parseNetwork(text) }).toEqual({ text, network: null });
  expect(isInNetworks("::ffff:192.0.2.9", ["192.0.2.0/24"])).toBe(true);
  expect(isInNetworks("192.0.3.9", ["192.0.2.0/24", "::/0"])).toBe(false);
  expect(isInNetworks(null, ["0.0.0.0/0"])).toBe(false);
  expect(isInNetworks(null, [])).toBe(true);
  expect(findUncovered(["10.0.0.0/8"], ["10.1.0.0/16", "11.0.0.0/8"])).toBe("11.0.0.0/8");
  expect(findUncovered(["10.0.0.0/8"], [])).toBe("every address");
});

test("a key is accepted only from its client networks, and a change takes effect immediately", async () => {
  const { token: admin } = await world.key();
  const made = await call(admin, "203.0.113.1", "POST", "/api/api-keys", {
    name: "Shop",
    client_networks: ["192.0.2.7/24", "2001:db8::/32"],
  });
  expect(made.status).toBe(201);
  const { id, token } = made.body as { id: string; token: string };
  for (const address of ["192.0.2.200", "::ffff:192.0.2.200", "2001:db8:1::5"])
    expect((await call(token, address, "GET", "/api/emails")).status).toBe(200);
  // The address that the client claims itself does not count.
  for (const address of ["198.51.100.9", "192.0.2.1, 198.51.100.9", "2001:db9::1"])
    for (const path of ["/api/emails", "/api/emails/none", "/api/none"]) {
      const { status, text, headers } = await call(token, address, "GET", path);
      expect({ status, text }).toEqual({ status: 403, text: BODY });
      expect(String(headers["x-backstamp-reason"])).toMatch(/^client_address_not_allowed;detail=/);
    }
  const listed = await call(admin, "203.0.113.1", "GET", "/api/api-keys");
  expect((listed.body.data as { id: string }[]).find((key) => key.id === id)).toMatchObject({
    client_networks: ["192.0.2.0/24", "2001:db8::/32"],
  });
  const change = (networks: string[]) =>
    call(admin, "203.0.113.1", "PATCH", `/api/api-keys/${id}`, { client_networks: networks });
  expect((await change(["198.51.100.0/24"])).status).toBe(200);
  expect((await call(token, "198.51.100.9", "GET", "/api/emails")).status).toBe(200);
  expect((await call(token, "192.0.2.200", "GET", "/api/emails")).status).toBe(403);
  expect((await change([])).status).toBe(200);
  expect((await call(token, "192.0.2.200", "GET", "/api/emails")).status).toBe(200);
});

test("a change of the name and the networks is applied completely or not at all", async () => {
  const { token } = await world.key();
  const { id } = await world.key();
  const change = (name: string) =>
    call(token, "203.0.113.1", "PATCH", `/api/api-keys/${id}`, { name, client_networks: ["192.0.2.0/24"] });
  const stored = () => world.hot`select name, client_networks as networks from api_keys where id = ${id}`;
  const [before] = await stored();
  // The rename fails after the networks were written.
  await world.hot.unsafe(`
    create function fail_rename() returns trigger language plpgsql as $$ begin
      raise exception 'the rename fails';
    end $$;
    create trigger fail_rename before update on api_keys for each row
      when (new.name <> old.name) execute function fail_rename();`);
  expect((await change("Renamed")).status).toBe(500);
  expect(await stored()).toEqual([before]);
  await world.hot`drop trigger fail_rename on api_keys`;
  expect((await change("Renamed")).status).toBe(200);
  expect(await stored()).toEqual([{ name: "Renamed", networks: ["192.0.2.0/24"] }]);
});

test("a limited key cannot grant or free more networks than it has", async () => {
  const { token: admin } = await world.key();
  const make = async (by: string, address: string, networks?: string[]) =>
    call(by, address, "POST", "/api/api-keys", { name: "x", ...(networks && { client_networks: networks }) });
  const limited = (await make(admin, "203.0.113.1", ["192.0.2.0/24"])).body as { id: string; token: string };
  const inside = "192.0.2.1";
  for (const networks of [[], ["192.0.0.0/16"], ["::/0"]])
    expect((await make(limited.token, inside, networks)).status).toBe(403);
  const heir = (await make(limited.token, inside)).body as { token: string };
  expect((await call(heir.token, "203.0.113.1", "GET", "/api/emails")).status).toBe(403);
  const free = (await make(admin, "203.0.113.1")).body as { id: string };
  for (const [id, networks] of [
    [limited.id, []],
    [free.id, ["192.0.2.0/24"]],
  ] as const)
    expect(
      (await call(limited.token, inside, "PATCH", `/api/api-keys/${id}`, { client_networks: networks }))
        .status,
    ).toBe(403);
  expect((await call(limited.token, inside, "POST", `/api/api-keys/${free.id}/rotate`)).status).toBe(403);
});

test.each([
  [["192.0.2.0/24", "nonsense"], /client_networks.*nonsense/],
  [["192.0.2.0/40"], /192\.0\.2\.0\/40/],
  ["192.0.2.0/24", /client_networks/],
  [Array.from({ length: 51 }, (_, n) => `192.0.2.${n}`), /At most 50/],
])("client networks %j are rejected with 422 that names the entry", async (networks, message) => {
  const { token } = await world.key();
  expect(
    await call(token, "203.0.113.1", "POST", "/api/api-keys", {
      name: "x",
      client_networks: networks,
    }),
  ).toMatchObject(rejected(422, message));
});
