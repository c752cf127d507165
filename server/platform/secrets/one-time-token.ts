import { createHash, randomBytes } from "node:crypto";

/** A token of 256 random bits in base64url, for a link or a cookie. */
export const createOneTimeToken = (): string => randomBytes(32).toString("base64url");

/** Whether a text has the format of such a token. It may still be unknown or expired. */
export const isOneTimeToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** SHA-256, which is enough for random tokens. The database holds only the hash. */
export const hashToken = (token: string): Uint8Array => createHash("sha256").update(token).digest();
