import { expect, test } from "vitest";
import type { QueryDns } from "#server/mail/dns/dns";
import { createFindStsPolicy, parsePolicy } from "#server/mail/dns/mta-sts";

const file = (lines: string[]) => lines.join("\r\n");
const valid = file([
  "version: STSv1",
  "mode: enforce",
  "mx: mx.example.net",
  "mx: *.example.org",
  "max_age: 604800",
]);
const signal = new AbortController().signal;

/** DNS with at most one TXT record for each name. */
const createQuery =
  (records: Record<string, string[] | undefined>): QueryDns =>
  async (name, type) => {
    const texts = records[name];
    const asked = { name, type, resolver: "test" };
    if (texts === undefined) return { ...asked, kind: "nxdomain" };
    return { ...asked, kind: "answer", records: texts.map((text) => [text]) as never };
  };

test.each([
  ["mx.example.net", true],
  ["MX.Example.Net", true],
  ["a.example.org", true],
  ["a.b.example.org", false],
  ["example.org", false],
  ["evil-mx.example.net", false],
])("%s is covered by the policy: %s", (host, isCovered) => {
  expect(parsePolicy("text/plain; charset=utf-8", valid)?.policy.covers(host)).toBe(isCovered);
});

test.each([
  ["another type", "text/html", valid],
  ["no version", "text/plain", valid.replace("version: STSv1\r\n", "")],
  ["another version", "text/plain", valid.replace("STSv1", "STSv2")],
  ["an unknown mode", "text/plain", valid.replace("enforce", "force")],
  ["no age", "text/plain", valid.replace("max_age: 604800", "")],
  ["a negative age", "text/plain", valid.replace("604800", "-1")],
  ["no server", "text/plain", valid.replace(/mx: .*\r\n/g, "")],
  ["nothing", "text/plain", ""],
])("a policy file with %s is invalid", (_, type, body) => {
  expect(parsePolicy(type, body)).toBeNull();
});

test("a policy is fetched once for each id, from its only allowed URL", async () => {
  const records: Record<string, string[]> = { "_mta-sts.example.net": ["v=STSv1; id=1;"] };
  const fetched: string[] = [];
  const find = createFindStsPolicy(createQuery(records), async (url) => {
    fetched.push(url);
    return { contentType: "text/plain", body: valid };
  });
  expect((await find("example.net", signal))?.mode).toBe("enforce");
  await find("example.net", signal);
  expect(fetched).toEqual(["https://mta-sts.example.net/.well-known/mta-sts.txt"]);
  records["_mta-sts.example.net"] = ["v=STSv1; id=2;"];
  await find("example.net", signal);
  expect(fetched).toHaveLength(2);
});

test("a valid policy stays in force if the record or the file is removed", async () => {
  const records: Record<string, string[] | undefined> = { "_mta-sts.example.net": ["v=STSv1; id=1;"] };
  let body: string | null = valid;
  const find = createFindStsPolicy(createQuery(records), async () =>
    body === null ? null : { contentType: "text/plain", body },
  );
  await find("example.net", signal);
  body = null;
  records["_mta-sts.example.net"] = ["v=STSv1; id=2;"];
  expect((await find("example.net", signal))?.mode).toBe("enforce");
  records["_mta-sts.example.net"] = undefined;
  expect((await find("example.net", signal))?.mode).toBe("enforce");
});

test("a policy is not applied after its max_age", async () => {
  const records: Record<string, string[] | undefined> = { "_mta-sts.example.net": ["v=STSv1; id=1;"] };
  const find = createFindStsPolicy(createQuery(records), async () => ({
    contentType: "text/plain",
    body: valid.replace("604800", "0"),
  }));
  await find("example.net", signal);
  records["_mta-sts.example.net"] = undefined;
  expect(await find("example.net", signal)).toBeNull();
});

test("a domain without a record, with two records, or with an unavailable file has no policy, and the file is not fetched again immediately", async () => {
  let asked = 0;
  const records = {
    "_mta-sts.two.example": ["v=STSv1; id=1;", "v=STSv1; id=2;"],
    "_mta-sts.failing.example": ["v=STSv1; id=1;"],
  };
  const find = createFindStsPolicy(createQuery(records), async () => {
    asked += 1;
    throw new Error("no route");
  });
  for (const domain of ["none.example", "two.example", "failing.example", "failing.example"])
    expect(await find(domain, signal)).toBeNull();
  expect(asked).toBe(1);
});
