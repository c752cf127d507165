import { afterAll, beforeAll, expect, test } from "vitest";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { data, describeClients, errorOf, errorWith, startTestServer } from "./test-server";

const { zone, peer } = await startZone();
const testServer = await startTestServer({
  dnsServers: [peer],
  names: { mailHost: "mail.backstamp.example", returnPathDomain: null, webHost: "app.backstamp.example" },
});
afterAll(() => peer.close());

/** The values in the client's types. */
const RECORDS = ["SPF", "DKIM", "Receiving", "Tracking", "TrackingCAA"];
const TYPES = ["MX", "TXT", "CNAME", "CAA"];
const STATUSES = ["not_started", "pending", "verified", "failed", "temporary_failure"];

describeClients(testServer, (_client, account) => {
  let name: string;
  beforeAll(() => {
    name = `new-${account.domain}`.replace(".example.org", ".example");
  });

  test("a domain is created, verified and used to send", async () => {
    const { sdk } = account;
    const created = await data(
      sdk.domains.create({
        name,
        region: "eu-west-1",
        customReturnPath: "bounces",
        openTracking: true,
        clickTracking: false,
        tls: "opportunistic",
        trackingSubdomain: "links",
        capabilities: { sending: "enabled", receiving: "disabled" },
      }),
    );
    const shown = {
      id: created.id,
      name,
      status: "not_started",
      region: "eu-west-1",
      created_at: expect.stringMatching(/Z$/),
      capabilities: { sending: "enabled", receiving: "disabled" },
      open_tracking: true,
      click_tracking: false,
      tracking_subdomain: "links",
    };
    expect(created).toMatchObject(shown);
    expect(new Set(created.records.map(({ record }) => record))).toEqual(
      new Set(["SPF", "DKIM", "Tracking"]),
    );
    for (const record of created.records) {
      expect(RECORDS).toContain(record.record);
      expect(TYPES).toContain(record.type);
      expect(STATUSES).toContain(record.status);
      expect(record).toMatchObject({ name: expect.any(String), value: expect.any(String), ttl: "Auto" });
    }
    expect(await data(sdk.domains.get(created.id))).toMatchObject({ object: "domain", ...shown });
    const listed = (await data(sdk.domains.list())).data.find(({ id }) => id === created.id);
    expect(listed).toMatchObject(shown);
    expect(listed).not.toHaveProperty("records");

    const mail = { ...account.mail, from: `ann@${name}` };
    expect(await errorOf(sdk.emails.send(mail))).toEqual(errorWith(422, "validation_error", /verified/));

    publish(zone, created.records as unknown as Listed[]);
    expect(await data(sdk.domains.verify(created.id))).toMatchObject({ object: "domain", id: created.id });
    const verified = await data(sdk.domains.get(created.id));
    expect(verified.status).toBe("verified");
    expect(verified.records.map(({ status }) => status)).toEqual(created.records.map(() => "verified"));
    await data(sdk.emails.send(mail));
  });

  test("a domain is updated and removed", async () => {
    const { sdk } = account;
    const { id } = await data(sdk.domains.create({ name: `changed-${name}` }));
    expect(
      await data(sdk.domains.update({ id, openTracking: true, clickTracking: true, tls: "enforced" })),
    ).toEqual({ object: "domain", id });
    expect(await data(sdk.domains.get(id))).toMatchObject({ open_tracking: true, click_tracking: true });
    expect(await data(sdk.domains.remove(id))).toEqual({ object: "domain", id, deleted: true });
    expect(await errorOf(sdk.domains.get(id))).toEqual(errorWith(404, "not_found"));
  });
});
