import { randomBytes, scryptSync } from "node:crypto";

const COST = { N: 2 ** 10, r: 8, p: 1 } as const;

/**
 * A password hash with low cost parameters, verified in a few milliseconds: each stored hash contains its own
 * parameters. For users who sign in often. Tests of the cost itself use the product's function.
 */
export function hashPasswordCheaply(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}
