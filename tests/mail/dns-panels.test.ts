import { describe, expect, test } from "vitest";
import { createDkimKeyPair, formatDkimRecord } from "#server/mail/dkim/key";
import { DNS_PANEL_NAMES, DNS_PANELS, type DnsPanel, formatForPanel } from "#server/mail/dns/panels";
import { formatZoneFile } from "#server/mail/dns/zone-file";

const zone = "example.com";
const { publicKey } = await createDkimKeyPair("rsa");
const dkim = {
  host: "backstamp._domainkey.example.com",
  type: "TXT" as const,
  value: formatDkimRecord("rsa", publicKey),
};
const mx = { host: "send.example.com", type: "MX" as const, value: "mail.host.example", priority: 10 };
const cname = { host: "links.example.com", type: "CNAME" as const, value: "app.host.example" };

const typed = (panel: DnsPanel, record: Parameters<typeof formatForPanel>[1], inZone = zone) =>
  Object.fromEntries(formatForPanel(panel, record, inZone).fields.map(({ label, text }) => [label, text]));

/** What a name server would read from a TXT value in quotation marks. */
const unquoted = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, string = ""]) => string.replace(/\\(.)/g, "$1"));

describe("a record is formatted for the provider's form", () => {
  test("at Cloudflare: relative, in one piece, and not proxied", () => {
    expect(typed("cloudflare", dkim)).toEqual({
      Type: "TXT",
      Name: "backstamp._domainkey",
      Content: dkim.value,
      TTL: "Auto",
    });
    expect(typed("cloudflare", cname)).toMatchObject({
      Name: "links",
      Target: "app.host.example",
      "Proxy status": expect.stringContaining("DNS only"),
    });
    expect(typed("cloudflare", mx)).toMatchObject({ Priority: "10", "Mail server": "mail.host.example" });
  });

  test("at Route 53: quoted, and the priority in the value", () => {
    expect(typed("route53", mx)).toEqual({
      Type: "MX",
      "Record name": "send",
      Value: "10 mail.host.example",
      "TTL (seconds)": "300",
    });
    expect(typed("route53", dkim).Value).toMatch(/^"v=DKIM1; [^"]+" "[^"]+"$/);
  });

  test("at Hetzner, Google Cloud DNS and OVHcloud: targets end in a dot", () => {
    expect(typed("hetzner", mx).Value).toBe("10 mail.host.example.");
    expect(typed("google-cloud", mx)["MX data"]).toBe("10 mail.host.example.");
    expect(typed("google-cloud", cname)["Canonical name"]).toBe("app.host.example.");
    expect(typed("ovh", mx)).toMatchObject({ Priority: "10", Target: "mail.host.example." });
    expect(typed("ovh", dkim)).toMatchObject({ "Sub-domain": "backstamp._domainkey", Value: dkim.value });
  });

  test("at other providers: with its full name, and the relative one in addition", () => {
    expect(typed("other", dkim)["Full name"]).toBe(dkim.host);
    expect(formatForPanel("other", dkim, zone).hints.join(" ")).toContain("only backstamp._domainkey as");
  });
});

describe.each(DNS_PANEL_NAMES)("%s", (panel) => {
  test("loses nothing of a key that is longer than one string", () => {
    const { fields } = formatForPanel(panel, dkim, zone);
    const value = fields.find(({ text }) => text.includes("v=DKIM1"))?.text ?? "";
    expect(dkim.value.length).toBeGreaterThan(255);
    if (!value.startsWith('"')) return expect(value).toBe(dkim.value);
    const strings = unquoted(value);
    expect(strings.join("")).toBe(dkim.value);
    expect(Math.max(...strings.map(({ length }) => length))).toBe(255);
  });

  test("formats a name relative to the zone, and the zone itself", () => {
    const own = { host: "mail.example.com", type: "TXT" as const, value: "v=spf1 -all" };
    const nameIn = (inZone: string) =>
      formatForPanel(panel, own, inZone).fields.find(({ isTyped }) => isTyped)?.text;
    if (panel === "other") return expect(nameIn("example.com")).toBe("mail.example.com");
    expect(nameIn("example.com")).toBe("mail");
    expect(nameIn("mail.example.com")).toBe(DNS_PANELS[panel].apex);
  });
});

test("a name above the panel's length limit gives a hint", () => {
  const host = `backstamp._domainkey.${"very-long-name".repeat(4)}.example.com`;
  expect(formatForPanel("namecheap", { ...dkim, host }, zone).hints.join(" ")).toContain("at most 60");
  expect(formatForPanel("namecheap", dkim, zone).hints.join(" ")).not.toContain("at most 60");
});

test("the zone file contains full names, and long texts as several strings", () => {
  const text = formatZoneFile("Records for mail from example.com", [
    { ...dkim, purpose: "DKIM" },
    { ...mx, purpose: "Bounces" },
    { ...cname, purpose: "Links" },
    { host: "x.example.com", type: "TXT", value: 'a "b" \\c', purpose: "Odd", isCommented: true },
  ]);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(";"));
  expect(lines).toHaveLength(3);
  const [key = "", bounces, links] = lines;
  expect(key).toMatch(/^backstamp\._domainkey\.example\.com\. 3600 IN TXT "/);
  expect(unquoted(key).join("")).toBe(dkim.value);
  expect(bounces).toBe("send.example.com. 3600 IN MX 10 mail.host.example.");
  expect(links).toBe("links.example.com. 3600 IN CNAME app.host.example.");
  expect(text).toContain('; x.example.com. 3600 IN TXT "a \\"b\\" \\\\c"');
});
