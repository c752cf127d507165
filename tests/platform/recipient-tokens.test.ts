import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMailbox } from "#server/mail/address/address";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createRecipientTokens } from "#server/platform/secrets/recipient-tokens";

const origin = "https://mail.example.com";
const ours = createRecipientTokens(createKeyring(["our secret"]), origin);
const theirs = createRecipientTokens(createKeyring(["their secret"]), origin);
const teamId = "018f0000-0000-7000-8000-00000000000a";
const emailId = "018f0000-0000-7000-8000-00000000000b";
const who = { teamId, emailId, address: "ann@example.com" };
const tokenOf = (link: string) => link.slice(link.lastIndexOf("/") + 1);

describe("an unsubscribe link", () => {
  test("returns its recipient, for any address, and the list of the email", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 320 });
    fc.assert(
      fc.property(text, fc.uuid(), fc.option(text), (address, id, list) => {
        fc.pre(!/[\p{Cs}\0]/u.test(`${address}${list}`));
        const link = ours.unsubscribeLink({ teamId: id, emailId, address, list });
        expect(link).toMatch(/^https:\/\/mail\.example\.com\/api\/unsubscribe\/[A-Za-z0-9_-]+$/);
        expect(ours.openUnsubscribe(tokenOf(link))).toEqual({ teamId: id, emailId, address, list });
      }),
    );
  });

  test("is deterministic, and contains neither id nor address in plain text", () => {
    const link = ours.unsubscribeLink(who);
    expect(ours.unsubscribeLink(who)).toBe(link);
    const bytes = Buffer.from(tokenOf(link), "base64url");
    expect(bytes.includes("ann")).toBe(false);
    expect(bytes.includes(Buffer.from(teamId.replaceAll("-", ""), "hex"))).toBe(false);
    const other = Buffer.from(
      tokenOf(ours.unsubscribeLink({ ...who, address: "bnn@example.com" })),
      "base64url",
    );
    expect(other.subarray(0, 48).equals(bytes.subarray(0, 48))).toBe(false);
  });

  test("is rejected if it was changed, truncated, or created with another secret", () => {
    const token = tokenOf(ours.unsubscribeLink(who));
    const bytes = Buffer.from(token, "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(ours.openUnsubscribe(changed.toString("base64url"))).toBeNull();
    }
    for (const wrong of ["", "x", token.slice(1), `${token}=`, `${token}AA`, token.slice(0, 40), `${token} `])
      expect(ours.openUnsubscribe(wrong)).toBeNull();
    expect(theirs.openUnsubscribe(token)).toBeNull();
  });
});

describe("a return path", () => {
  test("is a plain local part that resolves to its delivery, in any letter case", () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const local = ours.returnPath(id);
        const read = parseMailbox(`${local}@bounces.example.com`);
        expect(read.ok && read.mailbox.local).toBe(local);
        expect(local).toHaveLength(59);
        expect(ours.openReturnPath(local)).toBe(id);
        expect(ours.openReturnPath(local.toUpperCase())).toBe(id);
        expect(theirs.openReturnPath(local)).toBeNull();
      }),
    );
  });

  test("with an invalid token is rejected", () => {
    const local = ours.returnPath(emailId);
    const forged = local.replace(/.$/, (last) => (last === "a" ? "q" : "a"));
    for (const wrong of ["", "ann", "bounce-", "bounce-!", local.slice(0, 40), `${local}aaaaaaaa`, forged])
      expect(ours.openReturnPath(wrong)).toBeNull();
    expect(ours.openReturnPath(`bounce-${tokenOf(ours.unsubscribeLink(who))}`)).toBeNull();
  });
});

describe("tracking links", () => {
  const copy = { teamId, emailId, deliveryId: "018f0000-0000-7000-8000-00000000000c" };
  const target = "https://example.com/?a=1&b=ä#c";

  test("resolve to their copy, and a click to its target, and are deterministic", () => {
    expect(ours.openLink(copy)).toMatch(/^https:\/\/mail\.example\.com\/api\/opens\/[A-Za-z0-9_-]{86}$/);
    expect(ours.openOpen(tokenOf(ours.openLink(copy)))).toEqual(copy);
    const link = ours.clickLink(copy, target);
    expect(link).toMatch(/^https:\/\/mail\.example\.com\/api\/clicks\/[A-Za-z0-9_-]+$/);
    expect(ours.openClick(tokenOf(link))).toEqual({ ...copy, target });
    expect(ours.clickLink(copy, target)).toBe(link);
    expect(Buffer.from(tokenOf(link), "base64url").includes("example.com")).toBe(false);
  });

  test("are rejected if changed, truncated, or created with another secret or for another purpose", () => {
    const token = tokenOf(ours.clickLink(copy, target));
    const bytes = Buffer.from(token, "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(ours.openClick(changed.toString("base64url"))).toBeNull();
    }
    for (const wrong of ["", "x", token.slice(1), `${token}=`, `${token}AA`, token.slice(0, -4), `${token} `])
      expect(ours.openClick(wrong)).toBeNull();
    expect(theirs.openClick(token)).toBeNull();
    const others = [tokenOf(ours.openLink(copy)), tokenOf(ours.unsubscribeLink(who))];
    for (const other of others) expect(ours.openClick(other)).toBeNull();
    expect(ours.openOpen(token)).toBeNull();
    expect(ours.openUnsubscribe(token)).toBeNull();
  });
});
