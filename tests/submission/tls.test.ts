import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openSubmission, type Submission } from "#server/startup/smtp/submission";
import { forEachTest } from "../support/fixtures";
import { type Certificate, makeCertificate } from "../support/servers/certificate";
import { createWorld } from "../support/world";
import { openClient, plainLogin, submit } from "./client";

const world = forEachTest(() => createWorld());
let submission: Submission;
let folder: string;
let token: string;
let certificate: Certificate;
const SIMPLE = "From: ann@example.org\r\nTo: ben@example.net\r\n\r\nHello\r\n";

const fileOf = (name: string) => path.join(folder, name);
async function store({ cert, key }: Certificate): Promise<void> {
  await writeFile(fileOf("cert.pem"), cert);
  await writeFile(fileOf("key.pem"), key);
}
const open = (port = 0, checkMs?: number) =>
  openSubmission(
    {
      hostname: "mail.example.com",
      submission: {
        startTls: { host: "127.0.0.1", port },
        implicitTls: { host: "127.0.0.1", port: 0 },
        certificateFiles: { cert: fileOf("cert.pem"), key: fileOf("key.pem") },
      },
    },
    world.deps,
    checkMs,
  );

beforeEach(async () => {
  token = (await world.key()).token;
  folder = await mkdtemp(path.join(tmpdir(), "submission-"));
  certificate = makeCertificate();
  await store(certificate);
});
afterEach(async () => {
  vi.useRealTimers();
  await submission?.close();
  await rm(folder, { recursive: true });
});

test("messages are accepted over STARTTLS and over implicit TLS, with the certificate of the files", async () => {
  submission = await open();
  const tls = { ca: certificate.cert, servername: "localhost" };
  const starttls = { requireTLS: true, tls };
  expect((await submit(submission.port ?? 0, token, { raw: SIMPLE }, starttls)).code).toBe(250);
  expect((await submit(submission.securePort ?? 0, token, { raw: SIMPLE }, { secure: true, tls })).code).toBe(
    250,
  );
});

test("with a certificate, AUTH is not announced before STARTTLS, and nothing is accepted without TLS", async () => {
  submission = await open();
  const client = await openClient(submission.port ?? 0);
  const features = await client.send("EHLO app.example.com");
  expect(features).toContain("STARTTLS");
  expect(features).not.toContain("AUTH");
  expect(await client.send(plainLogin(token))).toMatch(/^500/);
  expect(await client.send("MAIL FROM:<a@example.org>")).toMatch(/^530 5\.7\.0 Must issue a STARTTLS/);
  expect(await client.send("RCPT TO:<b@example.net>")).toMatch(/^503/);
  expect(await client.send("DATA")).toMatch(/^503/);
  client.socket.destroy();
});

test("an address has at most ten incomplete TLS handshakes, each for ten seconds", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  submission = await open();
  const port = submission.securePort ?? 0;
  const sockets = Array.from({ length: 10 }, () => connectTcp({ port, host: "127.0.0.1" }));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const late = connectTcp({ port, host: "127.0.0.1" });
  late.resume();
  await once(late, "close");
  for (const socket of sockets) socket.resume();
  const closed = Promise.all(sockets.map((socket) => once(socket, "close")));
  vi.advanceTimersByTime(9_000);
  // Their closing would arrive before the next handshake ends.
  await presented(port, connectTcp({ port, host: "127.0.0.1", localAddress: "127.0.0.2" }));
  expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
  vi.advanceTimersByTime(1_000);
  await closed;
});

/** The certificate that a new connection gets. With `plain`, TLS begins on that connection. */
const presented = (port: number, plain?: Socket) =>
  new Promise<string>((resolve, reject) => {
    const transport = plain ? { socket: plain } : { host: "127.0.0.1", port };
    const socket = connect({ ...transport, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });

const fingerprintOf = ({ cert }: Certificate) => new X509Certificate(cert).fingerprint256;

/** The certificate that a new connection gets after STARTTLS. */
async function presentedByStartTls(port: number): Promise<string> {
  const client = await openClient(port);
  await client.send("EHLO app.example.com");
  expect(await client.send("STARTTLS")).toMatch(/^220/);
  client.socket.removeAllListeners("data");
  return presented(port, client.socket);
}

test("a renewed certificate is used without a restart, and a broken one is not", async () => {
  submission = await open(0, 20);
  const { port, securePort } = submission;
  const both = () => Promise.all([presented(securePort ?? 0), presentedByStartTls(port ?? 0)]);
  const first = fingerprintOf(certificate);
  expect(await both()).toEqual([first, first]);
  await writeFile(fileOf("key.pem"), "not a key");
  expect(await both()).toEqual([first, first]);
  const renewed = makeCertificate();
  await store(renewed);
  const second = fingerprintOf(renewed);
  await vi.waitFor(async () => expect(await both()).toEqual([second, second]), { timeout: 20_000 });
});

test("an invalid or missing certificate stops the start with the setting and the file", async () => {
  await writeFile(fileOf("key.pem"), "not a key");
  await expect(open()).rejects.toThrow(/BACKSTAMP_SMTP_TLS: .*key\.pem are not a certificate chain/);
  await rm(fileOf("cert.pem"));
  await expect(open()).rejects.toThrow(/BACKSTAMP_SMTP_TLS: .*cert\.pem cannot be read \(ENOENT\)/);
});

test("an occupied port stops the start with the setting, and frees the other port", async () => {
  submission = await open();
  await expect(open(submission.port ?? 0)).rejects.toThrow(/BACKSTAMP_SMTP_PORT: Port \d+ is in use/);
});
