import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { isDatabaseUnreachable } from "#db/faults";
import { projectRoot, runToExit, startProcess } from "../support/processes/processes";
import { makeAuthority, makeCertificate } from "../support/servers/certificate";
import { listenOnLoopback } from "../support/servers/free-port";

/** A proxy before the database that gives a set response to the TLS request and forwards all other bytes. */
async function openTlsProxy(answer: "S" | "N", { key, cert } = makeCertificate()) {
  const target = new URL(inject("postgresUrl"));
  const lines = new Set<Socket>();
  let forwarded = 0;
  let asked = 0;
  const server = createServer(async (client) => {
    lines.add(client.on("error", () => {}));
    const [request] = (await once(client, "data")) as [Buffer];
    expect(request.toString("hex")).toBe("0000000804d2162f");
    asked++;
    client.write(answer);
    const open = answer === "S" ? new TLSSocket(client, { isServer: true, key, cert }) : client;
    const upstream = connect(Number(target.port), target.hostname);
    for (const end of [open, upstream])
      end.on("error", () => {}).on("close", () => [open, upstream].map((each) => each.destroy()));
    open.on("data", (chunk: Buffer) => {
      forwarded += chunk.length;
      upstream.write(chunk);
    });
    upstream.pipe(open);
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    asked: () => asked,
    bytesForwarded: () => forwarded,
    reset() {
      for (const line of lines) line.resetAndDestroy();
    },
    close() {
      for (const line of lines) line.destroy();
      server.close();
    },
  };
}

type TlsProxy = Awaited<ReturnType<typeof openTlsProxy>>;
let offers: TlsProxy;
let refuses: TlsProxy;
let database: Database | null = null;
beforeAll(async () => {
  [offers, refuses] = await Promise.all([openTlsProxy("S"), openTlsProxy("N")]);
});
afterEach(async () => {
  await database?.close();
  database = null;
});
afterAll(() => {
  offers.close();
  refuses.close();
});

function through(proxy: TlsProxy, mode: string): Database {
  const url = new URL(inject("postgresUrl"));
  url.port = String(proxy.port);
  url.searchParams.set("sslmode", mode);
  database = openDatabase(url.href, { connectionsMax: 4 });
  return database;
}

const ask = ({ hot }: Database) => hot`select 1 as one`.then(([row]) => row?.one);

test.each(["prefer", "require"])("sslmode=%s uses TLS if the server supports it", async (mode) => {
  const before = offers.bytesForwarded();
  expect(await ask(through(offers, mode))).toBe(1);
  expect(offers.bytesForwarded()).toBeGreaterThan(before);
});

test("sslmode=prefer uses plain text if the server does not support TLS", async () => {
  expect(await ask(through(refuses, "prefer"))).toBe(1);
});

test("sslmode=require sends nothing if the server does not support TLS", async () => {
  const proxy = await openTlsProxy("N");
  const fault = await ask(through(proxy, "require")).catch((error: Error) => error);
  expect(fault).toMatchObject({ code: "CONNECTION_NOT_ENCRYPTED" });
  expect(proxy.bytesForwarded()).toBe(0);
  proxy.close();
});

test("sslmode=verify-full sends nothing to a server with an untrusted certificate", async () => {
  const proxy = await openTlsProxy("S");
  const fault = await ask(through(proxy, "verify-full")).catch((error: Error) => error);
  expect(fault).toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  expect(proxy.bytesForwarded()).toBe(0);
  proxy.close();
});

/** Connects to each URL of its arguments in a process of its own: Node.js reads authorities at its start. */
const CONNECT = `
  const { openDatabase } = await import("./db/client.ts");
  for (const url of process.argv.slice(1)) {
    const database = openDatabase(url, { connectionsMax: 1 });
    console.log(await database.hot\`select 1\`.then(() => "connected", ({ message }) => message));
    await database.close();
  }`;

test("sslmode=verify-full accepts a trusted certificate only for its host name", async () => {
  const authority = makeAuthority("An authority");
  const open = (name: string) => openTlsProxy("S", makeCertificate({ names: [name], issuer: authority }));
  const [own, other] = await Promise.all([open("localhost"), open("elsewhere.example.com")]);
  const folder = mkdtempSync(path.join(tmpdir(), "backstamp-authority-"));
  const file = path.join(folder, "authority.pem");
  writeFileSync(file, authority.cert);
  const urls = [own, other].map(({ port }) => {
    const url = new URL(inject("postgresUrl"));
    url.host = `localhost:${port}`;
    url.searchParams.set("sslmode", "verify-full");
    return url.href;
  });
  const options = ["--import", "tsx", "--input-type=module", "--eval", CONNECT, "--", ...urls];
  const { stdout, stderr } = await runToExit(
    await startProcess(process.execPath, options, {
      cwd: projectRoot,
      env: { NODE_EXTRA_CA_CERTS: file },
    }),
  );
  const [first, second] = stdout.split("\n");
  expect(first, stderr).toBe("connected");
  expect(second).toContain("elsewhere.example.com");
  expect([own, other].map((proxy) => proxy.bytesForwarded() > 0)).toEqual([true, false]);
  for (const proxy of [own, other]) proxy.close();
  rmSync(folder, { recursive: true });
});

test("text after a comma in the URL does not disable encryption", async () => {
  const url = new URL(inject("postgresUrl"));
  url.port = String(offers.port);
  database = openDatabase(`${url.href}?search_path=public,pg_catalog&sslmode=require`, { connectionsMax: 4 });
  const before = offers.asked();
  expect(await ask(database)).toBe(1);
  expect(offers.asked()).toBeGreaterThan(before);
});

test("a statement sent while its TLS connection breaks returns its own rows or a connection error", async () => {
  const { hot } = through(offers, "require");
  const answers: unknown[] = [];
  for (let round = 0; round < 5; round++) {
    await vi.waitFor(() => hot`select 1`, { timeout: 20_000, interval: 20 });
    offers.reset();
    const asked: Promise<unknown>[] = [];
    for (let n = 0; n < 10; n++) {
      await new Promise((resolve) => setImmediate(resolve));
      asked.push(
        hot`select ${n}::int as n`.then(
          ([row]) => row?.n === n || row,
          (error) => isDatabaseUnreachable(error) || error,
        ),
      );
    }
    answers.push(...(await Promise.all(asked)));
  }
  expect(answers.filter((answer) => answer !== true)).toEqual([]);
});
