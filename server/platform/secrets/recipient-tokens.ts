import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { Secret } from "otpauth";
import { parse, stringify } from "uuid";
import { timeOfId } from "../ids";
import type { Keyring } from "./keyring";
import { type DerivedKeyPurpose, deriveKey } from "./secrets";

const tagBytes = 16;
const idBytes = 16;

/** The route of unsubscribe links. */
export const unsubscribePath = "/api/unsubscribe/{token}";

/** The tracking routes: the open pixel and the click redirect. */
export const openPath = "/api/opens/{token}";
export const clickPath = "/api/clicks/{token}";

/** Prefix of the token in a local part, for readers of logs. */
const returnPathPrefix = "bounce-";
const reportPrefix = "dmarc-";

/** The recipient identified by an unsubscribe link, and the name of the email's list if it has one. */
export type Subscriber = {
  teamId: string;
  emailId: string;
  address: string;
  list?: string | null | undefined;
};

/** One recipient's copy of an email. */
export type Copy = { teamId: string; emailId: string; deliveryId: string };

export type RecipientTokens = ReturnType<typeof createRecipientTokens>;

/**
 * Tokens in one recipient's copy of an email. They are deterministic, because the bytes of an email must be
 * the same in each attempt. They are encrypted and authenticated with the secret: AES-256-CTR with the
 * HMAC-SHA-256 of the content as nonce, as in SIV modes (RFC 5297); the nonce also authenticates the content.
 * Each purpose has its own keys. The secret is the one that was active when the email was created, which its
 * id contains. Tokens of the other secrets are accepted.
 */
export function createRecipientTokens(ring: Keyring, origin: string) {
  const unsubscribe = createRingSealer(ring, "unsubscribe");
  const bounce = createRingSealer(ring, "return-path");
  const reports = createRingSealer(ring, "report-address");
  const opens = createRingSealer(ring, "opens");
  const clicks = createRingSealer(ring, "clicks");
  // A tracking host is served like the installation: with the same scheme and port.
  const { protocol, port } = new URL(origin);
  const startAt = (host: string | null | undefined) =>
    host ? `${protocol}//${host}${port && `:${port}`}` : origin;
  return {
    /** The public origin of the installation, the start of all links. */
    origin,
    unsubscribeLink({ teamId, emailId, address, list }: Subscriber): string {
      // Neither an address nor the name of a list contains NUL.
      const text = list ? `${address}\0${list}` : address;
      const content = Buffer.concat([parse(teamId), parse(emailId), Buffer.from(text, "utf8")]);
      return (
        origin + unsubscribePath.replace("{token}", unsubscribe.seal(content, emailId).toString("base64url"))
      );
    },
    openUnsubscribe(token: string): Subscriber | null {
      const content = openText(unsubscribe, token);
      if (content === null || content.length <= 2 * idBytes) return null;
      const [address = "", list = null] = content.toString("utf8", 2 * idBytes).split("\0");
      return {
        teamId: stringify(content.subarray(0, idBytes)),
        emailId: stringify(content.subarray(idBytes, 2 * idBytes)),
        address,
        list,
      };
    },
    /** The local part of the envelope sender for one delivery: 59 characters, independent of letter case. */
    returnPath: (deliveryId: string): string => returnPathPrefix + sealLocal(bounce, deliveryId),
    /** The id of the delivery that a bounce to this local part refers to. */
    openReturnPath: (local: string): string | null => openLocal(bounce, returnPathPrefix, local),
    /** The local part of the address for reports about a domain: 58 characters. It is public in DNS. */
    reportAddress: (domainId: string): string => reportPrefix + sealLocal(reports, domainId),
    /** The id of the domain that reports to this local part are about. */
    openReportAddress: (local: string): string | null => openLocal(reports, reportPrefix, local),
    /** The URL of the open pixel of a copy, at this host or at the public origin. */
    openLink: (copy: Copy, host?: string | null): string =>
      startAt(host) +
      openPath.replace("{token}", opens.seal(bytesOfCopy(copy), copy.emailId).toString("base64url")),
    openOpen(token: string): Copy | null {
      const content = openText(opens, token);
      return content?.length === 3 * idBytes ? copyOf(content) : null;
    },
    /** The click-tracking link of a copy. The token contains the target URL, so it cannot be changed. */
    clickLink(copy: Copy, target: string, host?: string | null): string {
      const content = Buffer.concat([bytesOfCopy(copy), Buffer.from(target, "utf8")]);
      return (
        startAt(host) + clickPath.replace("{token}", clicks.seal(content, copy.emailId).toString("base64url"))
      );
    },
    openClick(token: string): (Copy & { target: string }) | null {
      const content = openText(clicks, token);
      if (content === null || content.length <= 3 * idBytes) return null;
      return { ...copyOf(content), target: content.toString("utf8", 3 * idBytes) };
    },
  };
}

const bytesOfCopy = ({ teamId, emailId, deliveryId }: Copy): Buffer =>
  Buffer.concat([parse(teamId), parse(emailId), parse(deliveryId)]);

const copyOf = (content: Buffer): Copy => ({
  teamId: stringify(content.subarray(0, idBytes)),
  emailId: stringify(content.subarray(idBytes, 2 * idBytes)),
  deliveryId: stringify(content.subarray(2 * idBytes, 3 * idBytes)),
});

type Sealer = ReturnType<typeof createRingSealer>;

function createRingSealer(ring: Keyring, purpose: DerivedKeyPurpose) {
  const sealers = new Map(ring.keys.map(({ id, secret }) => [id, createSealer(deriveKey(secret, purpose))]));
  type One = ReturnType<typeof createSealer>;
  return {
    /** `id` is a UUIDv7, whose time decides the key. */
    seal: (content: Uint8Array, id: string): Buffer =>
      (sealers.get(ring.keyAt(timeOfId(id).getTime()).id) as One).seal(content),
    open: (sealed: Buffer): Buffer | null => {
      for (const sealer of sealers.values()) {
        const content = sealer.open(sealed);
        if (content) return content;
      }
      return null;
    },
  };
}

/** An id in the letters of a local part, which are independent of their case. */
const sealLocal = (sealer: Sealer, id: string): string =>
  Secret.fromHex(sealer.seal(Buffer.from(parse(id)), id).toString("hex")).base32.toLowerCase();

function openLocal(sealer: Sealer, prefix: string, local: string): string | null {
  const base32 = local.toLowerCase().startsWith(prefix) ? local.slice(prefix.length) : "";
  if (!/^[a-z2-7]+$/i.test(base32)) return null;
  const content = sealer.open(Buffer.from(Secret.fromBase32(base32).bytes));
  return content?.length === idBytes ? stringify(content) : null;
}

function openText(sealer: Sealer, token: string): Buffer | null {
  const bytes = Buffer.from(token, "base64url");
  // Several base64url texts decode to the same bytes. Only the canonical one is accepted.
  return bytes.toString("base64url") === token ? sealer.open(bytes) : null;
}

function createSealer(keyHex: string) {
  const derive = (name: string) => createHmac("sha256", Buffer.from(keyHex, "hex")).update(name).digest();
  const [macKey, cipherKey] = [derive("mac"), derive("cipher")];
  const tagOf = (content: Uint8Array) =>
    createHmac("sha256", macKey).update(content).digest().subarray(0, tagBytes);
  return {
    seal(content: Uint8Array): Buffer {
      const tag = tagOf(content);
      return Buffer.concat([tag, createCipheriv("aes-256-ctr", cipherKey, tag).update(content)]);
    },
    open(sealed: Buffer): Buffer | null {
      if (sealed.length <= tagBytes) return null;
      const tag = sealed.subarray(0, tagBytes);
      const content = createDecipheriv("aes-256-ctr", cipherKey, tag).update(sealed.subarray(tagBytes));
      return timingSafeEqual(tag, tagOf(content)) ? content : null;
    },
  };
}
