import { createHash, randomBytes } from "node:crypto";

const tokenBytes = 32;
const TOKEN = /^[\w-]{43}$/;

/** Creates the token of an invitation link: 256 random bits. Only its hash is stored. */
export function createInvitationToken(): { token: string; tokenHash: Uint8Array } {
  const token = randomBytes(tokenBytes).toString("base64url");
  return { token, tokenHash: hashOf(token) };
}

/** SHA-256 of a well-formed token, or null for anything else. */
export const hashInvitationToken = (token: string): Uint8Array | null =>
  TOKEN.test(token) ? hashOf(token) : null;

const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();
