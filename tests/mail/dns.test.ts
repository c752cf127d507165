import { describe, expect, test } from "vitest";
import { createQueryDns } from "#server/mail/dns/dns";
import { closeAfterTest } from "../support/fixtures";
import { type DnsScript, startDnsTestServer } from "../support/servers/dns-test-server";

const peerOf = async (script: DnsScript) => closeAfterTest(await startDnsTestServer(script));
const unreachable = { host: "127.0.0.1", port: 9 };
const addressOf = ({ host, port }: { host: string; port: number }) => `${host}:${port}`;

describe.each([
  ["Node's resolver", false],
  ["the validating resolver", true],
])("by %s", (_, isTrusted) => {
  const createDns = (servers: { host: string; port: number }[], timeoutMs?: number) =>
    createQueryDns(servers, timeoutMs, () => isTrusted);

  test("an answer names its resolver, and a TXT record keeps its strings separate", async () => {
    const name = "a.example";
    const peer = await peerOf(({ type }) => ({
      answers: type === "TXT" ? [{ name, type, ttl: 0, data: ["one", "two"] }] : [],
    }));
    const ask = createDns([peer]);
    const resolver = addressOf(peer);
    expect(await ask(name, "TXT")).toMatchObject({
      name,
      type: "TXT",
      resolver,
      kind: "answer",
      records: [["one", "two"]],
    });
    expect(await ask(name, "MX")).toEqual({ name, type: "MX", resolver, kind: "nodata" });
  });

  test("a missing name, a server error and a timeout are different results", async () => {
    const peer = await peerOf(({ name }) => {
      if (name === "broken.example") return { rcode: "SERVFAIL" };
      if (name === "refused.example") return { rcode: "REFUSED" };
      return name === "silent.example" ? { silent: true } : null;
    });
    const ask = createDns([peer]);
    const kindOf = async (name: string) => (await ask(name, "TXT")).kind;
    expect(await kindOf("none.example")).toBe("nxdomain");
    expect(await kindOf(`${"a.".repeat(130)}example`)).toBe("nxdomain");
    expect(await kindOf("broken.example")).toBe("servfail");
    expect(await kindOf("refused.example")).toBe("servfail");
    const impatient = createDns([peer], 20);
    expect((await impatient("silent.example", "TXT")).kind).toBe("timeout");
  });

  test("after a server error the next server is queried, after a negative answer it is not", async () => {
    const broken = await peerOf(() => ({ rcode: "SERVFAIL" }));
    const empty = await peerOf(() => null);
    const last = await peerOf(() => null);
    const ask = createDns([unreachable, broken, empty, last]);
    expect(await ask("a.example", "TXT")).toMatchObject({ kind: "nxdomain", resolver: addressOf(empty) });
    expect(last.asked).toEqual([]);
    expect(await createDns([broken, unreachable])("a.example", "TXT")).toMatchObject({
      kind: "servfail",
      resolver: addressOf(unreachable),
    });
  });

  test("nothing is cached between two queries", async () => {
    const peer = await peerOf(({ name, type }, nth) => ({
      answers: type === "A" ? [{ name, type, ttl: 3_600, data: `192.0.2.${nth}` }] : [],
    }));
    const ask = createDns([peer]);
    for (const records of [["192.0.2.1"], ["192.0.2.2"]])
      expect(await ask("a.example", "A")).toMatchObject({ records });
  });

  test("an aborted query is a timeout immediately", async () => {
    const peer = await peerOf(() => ({ silent: true }));
    const breaking = new AbortController();
    const asking = createDns([peer])("a.example", "TXT", breaking.signal);
    await expect.poll(() => peer.asked.length).toBeGreaterThan(0);
    breaking.abort();
    expect((await asking).kind).toBe("timeout");
    const before = peer.asked.length;
    expect((await createDns([peer])("b.example", "TXT", breaking.signal)).kind).toBe("timeout");
    expect(peer.asked).toHaveLength(before);
  });
});
