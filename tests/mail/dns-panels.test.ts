import { describe, expect, test } from "vitest";
import { createDkimKeyPair, formatDkimRecord } from "#server/mail/dkim/key";
import { DNS_PANEL_NAMES, DNS_PANELS, type DnsPanel, typeInPanel } from "#server/mail/dns-panels";
import { formatZoneFile } from "#server/mail/zone-file";

const zone = "example.com";
const { publicKey } = await createDkimKeyPair("rsa");
const dkim = {
  host: "posthorn._domainkey.example.com",
  type: "TXT" as const,
  value: formatDkimRecord("rsa", publicKey),
};
const mx = { host: "send.example.com", type: "MX" as const, value: "mail.host.example", priority: 10 };
const cname = { host: "links.example.com", type: "CNAME" as const, value: "app.host.example" };

const typed = (panel: DnsPanel, record: Parameters<typeof typeInPanel>[1], inZone = zone) =>
  Object.fromEntries(typeInPanel(panel, record, inZone).fields.map(({ label, text }) => [label, text]));

/** What a name server would read from a TXT value in quotation marks. */
const unquoted = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, string = ""]) => string.replace(/\\(.)/g, "$1"));

describe("a record is told as the provider's form wants it", () => {
  test("at Cloudflare: relative, in one piece, and not proxied", () => {
    expect(typed("cloudflare", dkim)).toEqual({
      Type: "TXT",
      Name: "posthorn._domainkey",
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
    expect(typed("ovh", dkim)).toMatchObject({ "Sub-domain": "posthorn._domainkey", Value: dkim.value });
  });

  test("elsewhere: by its full name, and the relative one beside it", () => {
    expect(typed("other", dkim)["Full name"]).toBe(dkim.host);
    expect(typeInPanel("other", dkim, zone).hints.join(" ")).toContain("only posthorn._domainkey.");
  });
});

describe.each(DNS_PANEL_NAMES)("%s", (panel) => {
  test("loses nothing of a key that is longer than one string", () => {
    const { fields } = typeInPanel(panel, dkim, zone);
    const value = fields.find(({ text }) => text.includes("v=DKIM1"))?.text ?? "";
    expect(dkim.value.length).toBeGreaterThan(255);
    if (!value.startsWith('"')) return expect(value).toBe(dkim.value);
    const strings = unquoted(value);
    expect(strings.join("")).toBe(dkim.value);
    expect(Math.max(...strings.map(({ length }) => length))).toBe(255);
  });

  test("tells the name in the zone that is edited, and the zone itself as its form wants it", () => {
    const own = { host: "mail.example.com", type: "TXT" as const, value: "v=spf1 -all" };
    const nameIn = (inZone: string) =>
      typeInPanel(panel, own, inZone).fields.find(({ isTyped }) => isTyped)?.text;
    if (panel === "other") return expect(nameIn("example.com")).toBe("mail.example.com");
    expect(nameIn("example.com")).toBe("mail");
    expect(nameIn("mail.example.com")).toBe(DNS_PANELS[panel].apex);
  });
});

test("a name that a panel does not take is told beforehand", () => {
  const host = `posthorn._domainkey.${"very-long-name".repeat(4)}.example.com`;
  expect(typeInPanel("namecheap", { ...dkim, host }, zone).hints.join(" ")).toContain("at most 60");
  expect(typeInPanel("namecheap", dkim, zone).hints.join(" ")).not.toContain("at most 60");
});

test("the zone file says each record in full, long texts in several strings", () => {
  const text = formatZoneFile("Records for mail from example.com", [
    { ...dkim, purpose: "DKIM" },
    { ...mx, purpose: "Bounces" },
    { ...cname, purpose: "Links" },
    { host: "x.example.com", type: "TXT", value: 'a "b" \\c', purpose: "Odd", isCommented: true },
  ]);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(";"));
  expect(lines).toHaveLength(3);
  const [key = "", bounces, links] = lines;
  expect(key).toMatch(/^posthorn\._domainkey\.example\.com\. 3600 IN TXT "/);
  expect(unquoted(key).join("")).toBe(dkim.value);
  expect(bounces).toBe("send.example.com. 3600 IN MX 10 mail.host.example.");
  expect(links).toBe("links.example.com. 3600 IN CNAME app.host.example.");
  expect(text).toContain('; x.example.com. 3600 IN TXT "a \\"b\\" \\\\c"');
});
