import { describe, expect, test } from "vitest";
import { createRelay, type RelayOptions } from "#server/mail/transport/relay";
import type { Transport } from "#server/mail/transport/transport";
import { closeAfterTest } from "../support/fixtures";
import { makeCertificate } from "../support/servers/certificate";
import {
  EHLO_AUTH,
  EHLO_STARTTLS,
  type Seen,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { kinds, message, parsed, targetOf, watch } from "./relay-world";

const DAY_MS = 86_400_000;
const LOGIN = { user: "ann@example.com", pass: "p/a:s@s %1" };
const USERINFO = `${encodeURIComponent(LOGIN.user)}:${encodeURIComponent(LOGIN.pass)}@`;

const EHLO_BOTH = "250-peer.test\r\n250-STARTTLS\r\n250 AUTH PLAIN";
const SECRET = Buffer.from(`\0${LOGIN.user}\0${LOGIN.pass}`).toString("base64");
const ACCEPTS = ({ line }: Seen) => (line === `AUTH PLAIN ${SECRET}` ? "235 welcome" : "535 no");
const startPeer = async (script: SmtpScript, options = {}): Promise<SmtpTestServer> =>
  closeAfterTest(await startSmtpTestServer(script, options));
const relayBy = (url: string, options: RelayOptions = {}): Transport =>
  closeAfterTest(createRelay(targetOf(url), options));
const send = (relay: Transport, id = "m1") =>
  relay.deliver(message({ id }), parsed(["b@example.org"]), watch());

describe("encryption", () => {
  test("is used if it is offered, with any certificate, if no credentials are sent", async () => {
    const certificate = makeCertificate({ names: ["elsewhere.example"] });
    const sink = await startPeer({ ehlo: EHLO_STARTTLS }, { certificate });
    expect(kinds(await send(relayBy(`smtp://127.0.0.1:${sink.port}`)))).toEqual(["accepted"]);
    expect(sink.messages[0]?.isEncrypted).toBe(true);
  });

  test("is skipped if the handshake fails and TLS is not required", async () => {
    const peer = await startPeer({ ehlo: EHLO_STARTTLS, starttls: { bye: "220 go" } });
    expect(kinds(await send(relayBy(`smtp://127.0.0.1:${peer.port}`)))).toEqual(["accepted"]);
    expect(peer.connections()).toBe(2);
  });

  test("is skipped if STARTTLS is rejected and TLS is not required", async () => {
    const peer = await startPeer({ ehlo: EHLO_STARTTLS, starttls: "454 4.7.0 not now" });
    expect(kinds(await send(relayBy(`smtp://127.0.0.1:${peer.port}`)))).toEqual(["accepted"]);
    expect(peer.connections()).toBe(1);
  });

  const bad = {
    "that has expired": makeCertificate({
      validFrom: new Date(Date.now() - 9 * DAY_MS),
      validTo: new Date(Date.now() - DAY_MS),
    }),
    "for another name": makeCertificate({ names: ["elsewhere.example"] }),
    "from an untrusted authority": makeCertificate(),
  };

  test.each(Object.entries(bad))(
    "with a certificate %s defers email if a valid one is required",
    async (what, certificate) => {
      const ca = what === "from an untrusted authority" ? {} : { ca: certificate.cert };
      for (const [implicitTls, url] of [
        [false, "smtp://HOST?tls=required"],
        [true, "smtps://HOST"],
      ] as const) {
        const sink = await startPeer({ ehlo: EHLO_STARTTLS }, { implicitTls, certificate });
        const relay = relayBy(url.replace("HOST", `127.0.0.1:${sink.port}`), ca);
        const [outcome] = await send(relay);
        expect(outcome).toMatchObject({ kind: "deferred", alarm: "tls" });
        expect(sink.messages).toEqual([]);
      }
    },
  );

  test("with a valid certificate is accepted if one is required, with implicit TLS and with STARTTLS", async () => {
    const certificate = makeCertificate();
    for (const [implicitTls, url] of [
      [false, "smtp://HOST?tls=required"],
      [true, "smtps://HOST"],
    ] as const) {
      const sink = await startPeer({ ehlo: EHLO_STARTTLS }, { implicitTls, certificate });
      const relay = relayBy(url.replace("HOST", `localhost:${sink.port}`), { ca: certificate.cert });
      expect(kinds(await send(relay))).toEqual(["accepted"]);
      expect(sink.messages[0]?.isEncrypted).toBe(true);
    }
  });

  test("with any certificate is accepted if the URL contains tls=insecure, but plain text is not", async () => {
    const sink = await startPeer({ ehlo: EHLO_STARTTLS });
    expect(kinds(await send(relayBy(`smtp://127.0.0.1:${sink.port}?tls=insecure`)))).toEqual(["accepted"]);
    const clear = await startPeer({ starttls: "502 no" });
    const [outcome] = await send(relayBy(`smtp://127.0.0.1:${clear.port}?tls=insecure`));
    expect(outcome).toMatchObject({ kind: "deferred", alarm: "tls" });
    expect(clear.messages).toEqual([]);
  });

  test("ignores replies that were injected before the handshake", async () => {
    const starttls = Buffer.from("220 go\r\n250-peer.test\r\n250 AUTH PLAIN\r\n");
    const peer = await startPeer({ ehlo: EHLO_STARTTLS, starttls }, { certificate: makeCertificate() });
    const [outcome] = await send(relayBy(`smtp://127.0.0.1:${peer.port}?tls=insecure`));
    expect(outcome?.kind).toBe("accepted");
    expect(peer.commands.filter((line) => line.startsWith("EHLO"))).toHaveLength(2);
  });
});

describe("login", () => {
  test("uses the credentials of the URL over TLS", async () => {
    const certificate = makeCertificate();
    const sink = await startPeer({ ehlo: EHLO_BOTH, auth: ACCEPTS }, { certificate });
    const relay = relayBy(`smtp://${USERINFO}localhost:${sink.port}?tls=required`, { ca: certificate.cert });
    const [outcome] = await send(relay);
    expect(outcome?.kind).toBe("accepted");
    expect(sink.messages[0]?.isEncrypted).toBe(true);
    expect(outcome?.dialogue).toContain("> AUTH PLAIN ***");
  });

  test("without TLS is allowed only for this machine", async () => {
    const sink = await startPeer({ ehlo: EHLO_AUTH, auth: ACCEPTS });
    expect(kinds(await send(relayBy(`smtp://${USERINFO}127.0.0.1:${sink.port}`)))).toEqual(["accepted"]);
    expect(targetOf(`smtp://${USERINFO}mail.example.com`)).toMatchObject({ tls: "required", verify: true });
  });

  test("is never tried without TLS if TLS is required", async () => {
    const peer = await startPeer({ ehlo: EHLO_AUTH, starttls: "502 no" });
    const [outcome] = await send(relayBy(`smtp://${USERINFO}127.0.0.1:${peer.port}?tls=required`));
    expect(outcome).toMatchObject({ kind: "deferred", alarm: "tls" });
    expect(peer.commands.filter((line) => line.startsWith("AUTH"))).toEqual([]);
  });

  test("that is rejected defers all emails with an alarm, and is retried once per pause", async () => {
    const peer = await startPeer({ ehlo: EHLO_AUTH, auth: "535 5.7.8 bad credentials" });
    const relay = relayBy(`smtp://${USERINFO}127.0.0.1:${peer.port}`);
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) => send(relay, `m${index}`)));
    for (const [outcome] of outcomes)
      expect(outcome).toMatchObject({ kind: "deferred", alarm: "auth", reply: { code: 535 } });
    expect(peer.commands.filter((line) => line.startsWith("AUTH"))).toHaveLength(1);
    expect(peer.messages).toEqual([]);
  });

  test("is retried after the pause, and emails are sent once it is accepted", async () => {
    const peer = await startPeer({ ehlo: EHLO_AUTH, auth: ["535 5.7.8 bad credentials", "235 welcome"] });
    const relay = relayBy(`smtp://${USERINFO}127.0.0.1:${peer.port}`, { loginPauseMs: 100 });
    expect(kinds(await send(relay))).toEqual(["deferred"]);
    await expect.poll(async () => kinds(await send(relay)), { timeout: 10_000 }).toEqual(["accepted"]);
  });

  test.each([
    ["454 4.7.0 temporary failure"],
    ["530 5.7.0 must issue STARTTLS first"],
    ["534 5.7.9 mechanism too weak"],
    ["garbage"],
  ])("with the reply %s bounces nothing", async (auth) => {
    const peer = await startPeer({ ehlo: EHLO_AUTH, auth });
    const [outcome] = await send(relayBy(`smtp://${USERINFO}127.0.0.1:${peer.port}`));
    expect(outcome).toMatchObject({ kind: "deferred", alarm: "auth" });
  });

  test("that the server does not support defers emails with an alarm", async () => {
    const sink = await startPeer({ auth: "502 no" });
    const [outcome] = await send(relayBy(`smtp://${USERINFO}127.0.0.1:${sink.port}`));
    expect(outcome).toMatchObject({ kind: "deferred", alarm: "auth" });
  });

  test("leaves no trace of the password in the outcome", async () => {
    const password = Buffer.from(LOGIN.pass).toString("base64");
    for (const method of ["PLAIN", "LOGIN", "CRAM-MD5"]) {
      const peer = await startPeer({
        ehlo: `250-peer.test\r\n250 AUTH ${method}`,
        auth: method === "PLAIN" ? "535 no" : ["334 PDE4OTYuNjk3MTcwOTUyQHBlZXI+", "535 5.7.8 no"],
      });
      const [outcome] = await send(relayBy(`smtp://${USERINFO}127.0.0.1:${peer.port}`));
      const text = JSON.stringify(outcome);
      expect(text).toContain(`AUTH ${method}`);
      for (const trace of [
        LOGIN.pass,
        SECRET,
        password,
        Buffer.from(LOGIN.user).toString("base64").slice(0, 12),
      ])
        expect(text).not.toContain(trace);
    }
  });
});
