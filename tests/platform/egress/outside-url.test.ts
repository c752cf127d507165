import { afterAll, describe, expect, test } from "vitest";
import { createOutside } from "#server/platform/egress/outside";

const strict = createOutside();
const open = createOutside({ allow: ["127.0.0.0/8", "10.0.0.0/8", "::1/128"] });
afterAll(() => Promise.all([strict.close(), open.close()]));

const SMALL = { method: "GET", timeoutMs: 5_000, responseBytesMax: 100 } as const;

/** URLs that the API rejects immediately, and that would be blocked before a packet is sent. */
const REFUSED = {
  "another scheme": [
    ["ftp://example.com/", /https/],
    ["file:///etc/passwd", /https/],
    ["data:text/plain,hi", /https/],
    ["javascript:alert(1)", /https/],
    ["gopher://example.com/", /https/],
  ],
  "plain http": [["http://example.com/hooks", /https/]],
  "another port": [
    ["https://example.com:25/", /port/],
    ["https://example.com:22/", /port/],
    ["https://example.com:80/", /port/],
    ["https://example.com:0/", /port 0/],
    ["https://93.184.216.34:6379/", /port/],
  ],
  userinfo: [
    ["https://user@example.com/", /user name/],
    ["https://user:secret@example.com/", /user name/],
    ["https://example.com@127.0.0.1/", /user name/],
  ],
  "an internal address, in any notation": [
    ["https://127.0.0.1/", /public/],
    ["https://127.1/", /public/],
    ["https://2130706433/", /public/],
    ["https://0x7f.0.0.1/", /public/],
    ["https://0177.0.0.1/", /public/],
    ["https://0/", /public/],
    ["https://①②⑦.⓪.⓪.①/", /public/],
    ["https://127。0。0。1/", /public/],
    ["https://%31%32%37.0.0.1/", /public/],
    ["https://127.0.0.1./", /public/],
    ["https://10.0.0.1/", /public/],
    ["https://169.254.169.254/latest/meta-data/", /public/],
    ["https://[::1]/", /public/],
    ["https://[::]/", /public/],
    ["https://[::ffff:127.0.0.1]/", /public/],
    ["https://[::ffff:7f00:1]/", /public/],
    ["https://[::127.0.0.1]/", /public/],
    ["https://[64:ff9b::7f00:1]/", /public/],
    ["https://[2002:7f00:1::]/", /public/],
    ["https://[fe80::1]/", /public/],
    ["https://[fd00::1]/", /public/],
    ["https://100.64.0.1/", /public/],
    ["https://168.63.129.16/", /public/],
  ],
  "a name of an internal network": [
    ["https://localhost/", /internal/],
    ["https://LOCALHOST/", /internal/],
    ["https://localhost./", /internal/],
    ["https://ⓛocalhost/", /internal/],
    ["https://app.localhost/", /internal/],
    ["https://printer.local/", /internal/],
    ["https://metadata.google.internal/", /internal/],
    ["https://db.home.arpa/", /internal/],
    ["https://intranet/", /internal/],
    ["https://kubernetes/", /internal/],
    ["https://example.com./", /internal/],
  ],
  "no URL": [
    ["", /URL/],
    ["example.com/hooks", /URL/],
    ["//example.com/hooks", /URL/],
    ["https://", /URL/],
    ["https://exa mple.com/", /spaces/],
    ["https://example.com/\r\nHost: x", /control/],
    ["https://example.com/\t", /control/],
    ["https://1.2.3.256/", /URL/],
    [`https://example.com/${"a".repeat(2_050)}`, /characters/],
  ],
} as const;

describe("a blocked URL", () => {
  for (const [kind, table] of Object.entries(REFUSED))
    test.each([...table])(`${kind}: %s`, async (url, says) => {
      expect(strict.checkUrl(url)).toMatch(says);
      expect(await strict.fetch(url, SMALL)).toEqual({ kind: "fault", fault: "blocked" });
    });
});

test.each([
  "https://example.com/hooks?a=1#b",
  "https://example.com:8443/",
  "https://example.com:443/",
  "https://93.184.216.34/",
  "https://[2606:4700::1111]/",
  "https://bücher.example/",
])("%s is valid", (url) => {
  expect(strict.checkUrl(url)).toBeNull();
});

test.each([
  ["http://localhost:9000/hook", "127.0.0.0/8,::1"],
  ["https://localhost/hook", "127.0.0.0/8,::1"],
  ["http://printer.local/", "127.0.0.0/8,::1"],
  ["https://10.1.2.3/", "10.1.2.3/32"],
  ["http://127.0.0.1:3000/", "127.0.0.1/32"],
  ["https://[::1]/", "::1/128"],
])("%s is rejected with the setting that allows it", (url, value) => {
  expect(strict.checkUrl(url)).toContain(`BACKSTAMP_EGRESS_ALLOW=${value}`);
});

test("the setting is not suggested for the metadata service of a cloud", () => {
  expect(strict.checkUrl("https://169.254.169.254/")).toMatch(/public Internet\.$/);
});

test.each([
  "http://example.com/",
  "https://example.com:81/",
  "http://93.184.216.34/",
  "https://u:p@localhost/",
])("%s is rejected for another reason, without the setting", (url) => {
  expect(strict.checkUrl(url)).toMatch(/^The URL (must|may)/);
  expect(strict.checkUrl(url)).not.toContain("BACKSTAMP_");
});

test("http and all ports are valid only for addresses that the operator allowed", () => {
  for (const url of ["http://127.0.0.1:3000/", "https://10.0.0.1:8080/", "http://[::1]:9000/x"])
    expect(open.checkUrl(url)).toBeNull();
  // The addresses of a name are checked when the request is sent.
  for (const url of ["http://localhost:3000/", "http://db.internal/", "http://example.com:81/"])
    expect(open.checkUrl(url)).toBeNull();
  expect(open.checkUrl("http://93.184.216.34/")).toMatch(/https/);
  expect(open.checkUrl("https://93.184.216.34:81/")).toMatch(/port/);
  expect(open.checkUrl("https://192.168.0.1/")).toMatch(/public/);
});

test("a non-ASCII host stays valid however many URLs were parsed", () => {
  for (let read = 0; read < 20_000; read += 1) strict.checkUrl("https://bücher.example/");
  expect(strict.checkUrl("https://bücher.example/")).toBeNull();
});
