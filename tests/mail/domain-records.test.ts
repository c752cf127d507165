import { createPublicKey, createSign, createVerify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { getRegisteredDomain, isPublicSuffix } from "#server/mail/address/registered-domain";
import { createDkimKeyPair, formatDkimRecord, isDkimRecord, isDkimRecordOf } from "#server/mail/dkim/key";
import { parseDmarc } from "#server/mail/dns/dmarc";

describe("a DKIM key record", () => {
  const key = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A+/==";

  test.each([
    formatDkimRecord("rsa", key),
    `p=${key}`,
    `v=DKIM1;p=${key};`,
    `v=DKIM1; k=rsa; t=s; n=a note; p=${key.slice(0, 9)} \t ${key.slice(9)}`,
    `k=rsa; h=sha1:sha256; s=email:other; p=${key}`,
    `v=DKIM1; p=${key}; p=AAAA`,
  ])("matches its key in any valid form: %s", (text) => {
    expect(isDkimRecordOf(text, "rsa", key)).toBe(true);
  });

  test.each([
    "",
    "hello",
    "v=DKIM1; p=",
    `v=DKIM2; p=${key}`,
    `v=DKIM1; k=ed25519; p=${key}`,
    `v=DKIM1; h=sha1; p=${key}`,
    `v=DKIM1; s=other; p=${key}`,
    `v=DKIM1; p="${key}"`,
    `v=DKIM1; p=${key}A`,
    `v=DKIM1; p=AAAA; p=${key}`,
  ])("is invalid if a verifier would reject it: %s", (text) => {
    expect(isDkimRecordOf(text, "rsa", key)).toBe(false);
  });

  test("of Ed25519 names its algorithm, because the default is RSA", () => {
    const record = formatDkimRecord("ed25519", "abc=");
    expect(isDkimRecordOf(record, "ed25519", "abc=")).toBe(true);
    expect(isDkimRecordOf("v=DKIM1; p=abc=", "ed25519", "abc=")).toBe(false);
    expect(isDkimRecordOf("v=DKIM1; k=rsa; p=abc=", "ed25519", "abc=")).toBe(false);
  });

  test("is recognized by its key", () => {
    expect([formatDkimRecord("rsa", "AAAA"), "p=", "v=spf1 -all", ""].map(isDkimRecord)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test("matches the private key that is created with it", async () => {
    const { privateKey, publicKey } = await createDkimKeyPair("rsa");
    const signature = createSign("sha256").update("mail").sign(privateKey);
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
    expect(createVerify("sha256").update("mail").verify(key, signature)).toBe(true);
  });
});

describe("a DMARC policy", () => {
  test.each([
    [["v=DMARC1; p=none"], false, { policy: "none", isSpfStrict: false }],
    [["v=DMARC1;P=Reject;aspf=S"], false, { policy: "reject", isSpfStrict: true }],
    [["v=DMARC1; p=none; sp=quarantine"], true, { policy: "quarantine", isSpfStrict: false }],
    [["v=DMARC1; p=none; sp=quarantine"], false, { policy: "none", isSpfStrict: false }],
    [["other", "v=DMARC1; p=none", "v=spf1"], false, { policy: "none", isSpfStrict: false }],
  ])("%j (inherited: %s)", (texts, isInherited, policy) => {
    expect(parseDmarc(texts, isInherited)).toEqual({ kind: "policy", policy });
  });

  test.each([
    [[], "none"],
    [["v=spf1 -all", "dmarc"], "none"],
    [["v=DMARC1; p=none", "v=DMARC1; p=none"], "several"],
    [["v=DMARC1"], "invalid"],
    [["v=DMARC1; p=maybe"], "invalid"],
  ])("%j is %s", (texts, kind) => {
    expect(parseDmarc(texts, false).kind).toBe(kind);
  });
});

describe("the public suffix list", () => {
  test.each(["com", "co.uk", "github.io", "xn--p1ai", "kawasaki.jp", "test"])("%s is a suffix", (name) => {
    expect(isPublicSuffix(name)).toBe(true);
  });

  test.each([
    ["example.com", "example.com"],
    ["a.b.example.co.uk", "example.co.uk"],
    ["me.github.io", "me.github.io"],
    ["x.me.github.io", "me.github.io"],
    ["mail.corp.internal", "corp.internal"],
  ])("%s was registered as %s", (name, registered) => {
    expect(isPublicSuffix(name)).toBe(false);
    expect(getRegisteredDomain(name)).toBe(registered);
  });
});
