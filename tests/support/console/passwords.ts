import { randomBytes, scryptSync } from "node:crypto";

const COST = { N: 2 ** 10, r: 8, p: 1 } as const;

/**
 * A stored password that is checked in a few milliseconds: a stored one says by itself what it costs. For people who sign in
 * often; who is about what a password costs stores one by the product's own means.
 */
export function hashPasswordCheaply(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}
