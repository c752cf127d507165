import { createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { createOutside, type Outside, type OutsideOptions } from "#server/platform/egress/outside";
import { closeAfterTest } from "../../support/fixtures";
import { makeCertificate } from "../../support/servers/certificate";
import { addressRecords, type DnsScript, startDnsTestServer } from "../../support/servers/dns-test-server";
import { listenOnLoopback } from "../../support/servers/free-port";
import { startHttpSink } from "../../support/servers/http-sink";

const sink = async (...given: Parameters<typeof startHttpSink>) =>
  closeAfterTest(await startHttpSink(...given));
const outside = (options: OutsideOptions): Outside => closeAfterTest(createOutside(options));
const names = async (script: DnsScript) => {
  const peer = closeAfterTest(await startDnsTestServer(script));
  return { peer, nameServers: [{ host: peer.host, port: peer.port }] };
};
const always =
  (...addresses: string[]): DnsScript =>
  (question) => ({ answers: addressRecords(question, addresses) });

const ASK = { method: "POST", body: "hello", timeoutMs: 20_000, responseBytesMax: 1_000 } as const;
const BLOCKED = { kind: "fault", fault: "blocked" };

describe("DNS names", () => {
  test("the address of a single lookup is checked and connected to; SNI, Host and the certificate check use the name", async () => {
    const certificate = makeCertificate({ names: ["hooks.example.test"] });
    const far = await sink(() => ({ status: 201, headers: { "x-a": "1" }, body: "thanks" }), { certificate });
    const { peer, nameServers } = await names(always("127.0.0.1"));
    const out = outside({ allow: ["127.0.0.1/32"], nameServers, ca: [certificate.cert] });
    const answer = await out.fetch(`https://hooks.example.test:${far.port}/in?x=1`, ASK);
    expect(answer).toMatchObject({ kind: "answer", status: 201, headers: { "x-a": "1" }, isCut: false });
    expect(answer.kind === "answer" && answer.body.toString()).toBe("thanks");
    expect(far.received).toMatchObject([
      { method: "POST", path: "/in?x=1", body: "hello", serverName: "hooks.example.test" },
    ]);
    expect(far.received[0]?.headers.host).toBe(`hooks.example.test:${far.port}`);
    expect(peer.asked.map(({ type }) => type).sort()).toEqual(["A", "AAAA"]);
  });

  test("a name that resolves to an internal address later is checked again and not called", async () => {
    const good = await sink(() => ({ status: 200, headers: { connection: "close" } }));
    const inside = await sink(() => 200, { host: "127.0.0.5", port: good.port });
    const { nameServers } = await names((question, nth) => ({
      answers: addressRecords(question, [nth === 1 ? "127.0.0.1" : "127.0.0.5"]),
    }));
    const out = outside({ allow: ["127.0.0.1/32"], nameServers });
    const url = `http://hooks.example.test:${good.port}/`;
    expect(await out.fetch(url, ASK)).toMatchObject({ kind: "answer", status: 200 });
    expect(await out.fetch(url, ASK)).toEqual(BLOCKED);
    expect(inside.received).toEqual([]);
  });

  test("a single internal address among others blocks the name", async () => {
    const good = await sink();
    const { nameServers } = await names(always("127.0.0.1", "127.0.0.5"));
    const out = outside({ allow: ["127.0.0.1/32"], nameServers });
    expect(await out.fetch(`http://hooks.example.test:${good.port}/`, ASK)).toEqual(BLOCKED);
    expect(good.received).toEqual([]);
  });

  test.each([
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "fd00::1",
  ])("a normal name that resolves to %s is blocked", async (address) => {
    const { nameServers } = await names(always(address));
    expect(await outside({ nameServers }).fetch("https://hooks.example.test/", ASK)).toEqual(BLOCKED);
    const mixed = await names(always("93.184.216.34", address));
    const out = outside({ nameServers: mixed.nameServers });
    expect(await out.fetch("https://hooks.example.test/", ASK)).toEqual(BLOCKED);
  });

  test("allowed internal networks do not allow http or other ports for public addresses", async () => {
    const { nameServers } = await names(always("93.184.216.34"));
    const out = outside({ allow: ["127.0.0.0/8"], nameServers });
    for (const url of ["http://hooks.example.test/", "https://hooks.example.test:9200/", "https://inside/"])
      expect(await out.fetch(url, ASK)).toEqual(BLOCKED);
  });

  test("localhost is this machine, if allowed, without a DNS lookup", async () => {
    const here = await sink();
    const { peer, nameServers } = await names(() => null);
    const out = outside({ allow: ["127.0.0.0/8"], nameServers });
    expect(await out.fetch(`http://localhost:${here.port}/`, ASK)).toMatchObject({ status: 200 });
    expect(peer.asked).toEqual([]);
  });

  test("a proxy in the environment variables is not used", async () => {
    const proxy = await sink();
    const far = await sink();
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      NODE_USE_ENV_PROXY: "1",
    });
    try {
      const out = outside({ allow: ["127.0.0.0/8"] });
      expect(await out.fetch(`http://127.0.0.1:${far.port}/`, ASK)).toMatchObject({ status: 200 });
      expect(await out.fetch("https://10.0.0.1/", ASK)).toEqual(BLOCKED);
    } finally {
      for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "NODE_USE_ENV_PROXY"]) delete process.env[name];
      Object.assign(process.env, before);
    }
    expect(proxy.received).toEqual([]);
    expect(far.received).toHaveLength(1);
  });
});

describe("responses", () => {
  const local = () => outside({ allow: ["127.0.0.0/8"] });

  test.each([301, 302, 303, 307, 308])("a %i is a response and is not followed", async (status) => {
    const elsewhere = await sink();
    const location = `http://127.0.0.1:${elsewhere.port}/`;
    const far = await sink(() => ({
      status,
      headers: { location, refresh: `0; url=${location}` },
      body: "see there",
    }));
    const answer = await local().fetch(`http://127.0.0.1:${far.port}/`, ASK);
    expect(answer).toMatchObject({ kind: "answer", status, headers: { location } });
    expect(elsewhere.received).toEqual([]);
  });

  test("an endless body is truncated at the maximum size and its connection is closed", async () => {
    const far = await sink(() => (response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(8_192)));
      };
      response.on("drain", more);
      more();
    });
    const answer = await local().fetch(`http://127.0.0.1:${far.port}/`, { ...ASK, responseBytesMax: 16_384 });
    expect(answer).toMatchObject({ kind: "answer", status: 200, isCut: true });
    expect(answer.kind === "answer" && answer.body.length).toBe(16_384);
    await expect.poll(far.connections, { timeout: 20_000 }).toBe(0);
  });

  test("a body of exactly the maximum size is complete", async () => {
    const far = await sink(() => ({ status: 200, body: "y".repeat(1_000) }));
    expect(await local().fetch(`http://127.0.0.1:${far.port}/`, ASK)).toMatchObject({ isCut: false });
  });

  test.each(["after the headers", "before them"])("a slow response %s ends at the deadline", async (when) => {
    const far = await sink(() => async (response) => {
      if (when === "after the headers") response.writeHead(200);
      while (!response.destroyed) {
        if (when === "after the headers") response.write(".");
        else response.socket?.write(response.headersSent ? "" : "HTTP/1.1 102 Processing\r\n\r\n");
        await wait(20);
      }
    });
    const answer = await local().fetch(`http://127.0.0.1:${far.port}/`, { ...ASK, timeoutMs: 500 });
    expect(answer).toEqual({ kind: "fault", fault: "timeout" });
    await expect.poll(far.connections, { timeout: 20_000 }).toBe(0);
  });

  test("compressed bytes stay compressed, so a decompression bomb has no effect", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const far = await sink(({ headers }) => {
      expect(headers["accept-encoding"]).toBe("identity");
      return { status: 200, headers: { "content-encoding": "gzip" }, body: bomb };
    });
    const answer = await local().fetch(`http://127.0.0.1:${far.port}/`, {
      ...ASK,
      responseBytesMax: 100_000,
    });
    expect(answer).toMatchObject({ kind: "answer", isCut: false, headers: { "content-encoding": "gzip" } });
    expect(answer.kind === "answer" && answer.body.equals(bomb)).toBe(true);
  });

  test("headers above the maximum size are a fault", async () => {
    const far = await sink(() => ({ status: 200, headers: { "x-large": "h".repeat(200_000) } }));
    expect(await local().fetch(`http://127.0.0.1:${far.port}/`, ASK)).toEqual({
      kind: "fault",
      fault: "network",
    });
  });

  test("a caller can abort the request", async () => {
    const far = await sink(() => () => {});
    const leaving = new AbortController();
    const asking = local().fetch(`http://127.0.0.1:${far.port}/`, { ...ASK, signal: leaving.signal });
    await far.waitFor(1);
    leaving.abort();
    expect(await asking).toEqual({ kind: "fault", fault: "network" });
    expect(await local().fetch(`http://127.0.0.1:${far.port}/`, { ...ASK, signal: leaving.signal })).toEqual({
      kind: "fault",
      fault: "network",
    });
    expect(far.received).toHaveLength(1);
  });
});

describe("classes of failure", () => {
  async function silentPort(onConnect: "hold" | "drop"): Promise<number> {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      if (onConnect === "drop") socket.destroy();
      onTestFinished(() => void socket.destroy());
    });
    onTestFinished(() => void server.close());
    return listenOnLoopback(server);
  }
  /** No process listens on it. */
  const closedPort = 1;
  const faultOf = async (out: Outside, url: string, timeoutMs = 20_000) => {
    const answer = await out.fetch(url, { ...ASK, timeoutMs });
    return answer.kind === "fault" ? answer.fault : answer.status;
  };

  test("an allowed address has distinct errors, to help with troubleshooting", async () => {
    const out = outside({ allow: ["127.0.0.0/8"] });
    expect(await faultOf(out, `http://127.0.0.1:${closedPort}/`)).toBe("refused");
    expect(await faultOf(out, `http://127.0.0.1:${await silentPort("drop")}/`)).toBe("network");
    expect(await faultOf(out, `http://127.0.0.1:${await silentPort("hold")}/`, 300)).toBe("timeout");
    const plain = await sink();
    expect(await faultOf(out, `https://127.0.0.1:${plain.port}/`)).toBe("tls");
  });

  test("an untrusted or expired certificate, or one for another host, is `tls`", async () => {
    const { nameServers } = await names(always("127.0.0.1"));
    const day = 86_400_000;
    const now = Date.now();
    const expired = makeCertificate({
      names: ["hooks.example.test"],
      validFrom: new Date(now - 20 * day),
      validTo: new Date(now - 10 * day),
    });
    const other = makeCertificate({ names: ["other.example.test"] });
    const selfSigned = makeCertificate({ names: ["hooks.example.test"] });
    for (const { certificate, ca } of [
      { certificate: expired, ca: [expired.cert] },
      { certificate: other, ca: [other.cert] },
      { certificate: selfSigned, ca: undefined },
    ]) {
      const far = await sink(() => 200, { certificate });
      const out = outside({ allow: ["127.0.0.0/8"], nameServers, ...(ca ? { ca } : {}) });
      expect(await faultOf(out, `https://hooks.example.test:${far.port}/`)).toBe("tls");
      expect(far.received).toEqual([]);
    }
  });

  test("a name that does not exist, or whose server fails, is `dns`", async () => {
    const { nameServers } = await names(({ name }) =>
      name.startsWith("broken") ? { rcode: "SERVFAIL" } : name.startsWith("empty") ? { answers: [] } : null,
    );
    const out = outside({ nameServers });
    for (const name of ["missing", "broken", "empty"])
      expect(await faultOf(out, `https://${name}.example.test/`)).toBe("dns");
  });

  test("a request with an unresponsive name server ends at the deadline", async () => {
    const { nameServers } = await names(() => ({ silent: true }));
    // The result comes at the deadline, not at the timeouts of the name server or of the connection.
    const asking = faultOf(outside({ nameServers }), "https://hooks.example.test/", 200);
    expect(await Promise.race([asking, wait(3_500, "still waiting")])).toBe("timeout");
  });

  test("a blocked address gives the same result, whatever listens there", async () => {
    const open = await sink();
    const { nameServers } = await names(always("127.0.0.1"));
    const out = outside({ nameServers });
    const ports = [open.port, closedPort, await silentPort("hold"), await silentPort("drop")];
    for (const port of [...ports, 443, 8443]) {
      expect(await out.fetch(`https://127.0.0.1:${port}/`, ASK)).toEqual(BLOCKED);
      expect(await out.fetch(`https://hooks.example.test:${port}/`, ASK)).toEqual(BLOCKED);
    }
    expect(open.received).toEqual([]);
  });
});
