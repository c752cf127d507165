import { createHmac, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Callback } from "#server/mail/callbacks/callback";
import { mailgun, tokenOf } from "#server/mail/callbacks/mailgun";
import { postmark } from "#server/mail/callbacks/postmark";
import { parseSigningSecret, resend } from "#server/mail/callbacks/resend";
import { parseVerificationKey, sendgrid } from "#server/mail/callbacks/sendgrid";

const call = (raw: string | Uint8Array, headers: Record<string, string> = {}): Callback => ({
  bytes: Buffer.from(raw),
  header: (name) => headers[name.toLowerCase()] ?? null,
});
const later = (seconds: number, from: number) => new Date((from + seconds) * 1000);

describe("Resend's signature", () => {
  // The example of the Standard Webhooks specification.
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const at = 1614265330;
  const body = '{"test": 2432232314}';
  const values = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: String(at),
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const headers = (prefix: string, change: Partial<typeof values> = {}) =>
    Object.fromEntries(
      Object.entries({ ...values, ...change }).map(([name, value]) => [`${prefix}-${name}`, value]),
    );

  test("matches the example of the specification, with both sets of header names", () => {
    for (const prefix of ["svix", "webhook"])
      expect(resend.verify(call(body, headers(prefix)), secret, later(0, at))).toBe("genuine");
  });

  test("is accepted among several signatures, but not in another version", () => {
    const among = (signature: string) =>
      resend.verify(call(body, headers("svix", { signature })), secret, later(0, at));
    expect(among(`v1,AAAA ${values.signature}`)).toBe("genuine");
    expect(among(`v1a,AAAA v1,AAAA`)).toBe("forged");
    expect(among(values.signature.replace("v1,", "v2,"))).toBe("forged");
    expect(among(values.signature.slice(3))).toBe("forged");
    expect(among("")).toBe("forged");
  });

  test("is valid for five minutes", () => {
    const judge = (seconds: number) => resend.verify(call(body, headers("svix")), secret, later(seconds, at));
    expect([-301, -299, 299, 301].map(judge)).toEqual(["expired", "genuine", "genuine", "expired"]);
  });

  test.each([
    ["id", "msg_other"],
    ["timestamp", "1614265331"],
    ["timestamp", " 1614265330"],
    ["timestamp", "NaN"],
    ["id", ""],
  ])("is over %s, which cannot be %j", (name, value) => {
    const spoiled = headers("svix", { [name]: value });
    expect(resend.verify(call(body, spoiled), secret, later(0, at))).toBe("forged");
  });

  test("requires a valid key", () => {
    for (const odd of ["", "whsec_", "whsec_MfKQ", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_ä"])
      expect(parseSigningSecret(odd)).toBeNull();
    const empty = createHmac("sha256", "").update(`${values.id}.${at}.${body}`).digest("base64");
    const given = call(body, headers("svix", { signature: `v1,${empty}` }));
    expect(resend.verify(given, "", later(0, at))).toBe("forged");
  });
});

describe("SendGrid's signature", () => {
  // The example with which SendGrid's own library is tested.
  const key =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA==";
  const otherKey =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqTxd43gyp8IOEto2LdIfjRQrIbsd4SXZkLW6jDutdhXSJCWHw8REntlo7aNDthvj+y7GjUuFDb/R1NGe1OPzpA==";
  const at = 1588788367;
  const signature =
    "MEUCIQCtIHJeH93Y+qpYeWrySphQgpNGNr/U+UyUlBkU6n7RAwIgJTz2C+8a8xonZGi6BpSzoQsbVRamr2nlxFDWYNH2j/0=";
  const body = JSON.stringify({
    category: "example_payload",
    event: "test_event",
    message_id: "message_id",
  });
  const judge = (
    change: { body?: string; signature?: string; timestamp?: string; key?: string; now?: Date } = {},
  ) => {
    const headers = {
      "x-twilio-email-event-webhook-signature": change.signature ?? signature,
      "x-twilio-email-event-webhook-timestamp": change.timestamp ?? String(at),
    };
    return sendgrid.verify(call(change.body ?? body, headers), change.key ?? key, change.now ?? later(0, at));
  };

  test("matches the example of SendGrid, also with a key in PEM format", () => {
    expect(judge()).toBe("genuine");
    const lines = key.replace(/.{64}/g, "$&\n");
    expect(judge({ key: `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n` })).toBe(
      "genuine",
    );
  });

  test("covers time and body, and is valid only for its key", () => {
    expect(judge({ key: otherKey })).toBe("forged");
    expect(judge({ body: "payload" })).toBe("forged");
    expect(judge({ signature: signature.replace("YNH2", "YNH3") })).toBe("forged");
    expect(judge({ timestamp: "timestamp" })).toBe("forged");
    expect(judge({ timestamp: "1588788368" })).toBe("forged");
    for (const odd of ["", "AAAA", "MA==", "====", "MAYCAQACAQA="])
      expect(judge({ signature: odd })).toBe("forged");
  });

  test("is valid for one day", () => {
    expect(judge({ now: later(86_399, at) })).toBe("genuine");
    expect(judge({ now: later(86_401, at) })).toBe("expired");
    expect(judge({ now: later(-301, at) })).toBe("expired");
  });

  test("rejects a key on another curve and an invalid key", () => {
    const other = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;
    const base64 = other.export({ type: "spki", format: "der" }).toString("base64");
    for (const odd of [base64, "", "MFkw", "-----BEGIN PUBLIC KEY-----"]) {
      expect(parseVerificationKey(odd)).toBeNull();
      expect(judge({ key: odd })).toBe("forged");
    }
  });
});

describe("Mailgun's signature", () => {
  const at = 1770920772;
  const token = "e0b5477167110d68991efc6b9f89f0a11066af27834600e123";
  const signed = (change: object = {}, key = "the signing key") => {
    const signature = createHmac("sha256", key).update(`${at}${token}`).digest("hex");
    return call(
      JSON.stringify({ signature: { token, timestamp: String(at), signature, ...change }, "event-data": {} }),
    );
  };
  const judge = (callback: Callback, seconds = 0) =>
    mailgun.verify(callback, "the signing key", later(seconds, at));

  test("is the HMAC of time and token; the time may be text or a number", () => {
    expect(judge(signed())).toBe("genuine");
    expect(judge(signed({ timestamp: at }))).toBe("genuine");
    expect(judge(signed({ "parent-signature": "x" }))).toBe("genuine");
    expect(tokenOf(signed())).toBe(token);
  });

  test("is valid only for its key, time and token", () => {
    expect(judge(signed({}, "another key"))).toBe("forged");
    expect(judge(signed({ timestamp: at + 1 }))).toBe("forged");
    expect(judge(signed({ token: `${token}0` }))).toBe("forged");
    // The signature also fits if a digit moves from the timestamp to the token, but the callback is then
    // expired.
    expect(judge(signed({ timestamp: String(at).slice(0, -1), token: `${at % 10}${token}` }))).toBe(
      "expired",
    );
    for (const odd of ["", null, 1, {}]) expect(judge(signed({ signature: odd }))).toBe("forged");
    for (const odd of ["", "{", "[]", "null", '"x"', "\ufeff{}"]) expect(judge(call(odd))).toBe("forged");
    expect(judge(call(Buffer.from([0xff, 0xfe, 0])))).toBe("forged");
  });

  test("is valid for one day", () => {
    expect(judge(signed(), 86_399)).toBe("genuine");
    expect(judge(signed(), 86_401)).toBe("expired");
    expect(judge(signed(), -301)).toBe("expired");
  });
});

describe("Postmark's secret", () => {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
  const judge = (headers: Record<string, string>) =>
    postmark.verify(call("{}", headers), "a secret of ours", new Date());

  test("is sent as the password of basic authentication, or in a header", () => {
    expect(judge(basic("backstamp:a secret of ours"))).toBe("genuine");
    expect(judge({ "x-callback-secret": "a secret of ours" })).toBe("genuine");
  });

  test.each([
    {},
    { authorization: "Bearer a secret of ours" },
    { authorization: "Basic" },
    { "x-callback-secret": "" },
    { "x-callback-secret": "a secret of our" },
    basic("a secret of ours"),
    basic("backstamp:"),
    basic("backstamp:a secret of ours "),
    basic("Backstamp:a secret of ours"),
  ])("is rejected in any other form: %j", (headers) => {
    expect(judge(headers as Record<string, string>)).toBe("forged");
  });
});
