import crypto, { randomBytes, type ScryptOptions, scryptSync } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

const COST = { N: 2 ** 2, r: 8, p: 1 } as const;

/**
 * A password hash with low cost parameters, verified in no time: each stored hash contains its own
 * parameters. For users who sign in often.
 */
export function hashPasswordCheaply(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

let users = 0;

/**
 * Makes every password hash of this process cheap, until each caller has called the returned function. The
 * console's suites hash some 300 passwords, each for 0.2 s of processor time.
 * `tests/platform/passwords.test.ts` tests the real cost.
 */
export function makePasswordsCheap(): () => void {
  if (users++ === 0) setScrypt(cheapScrypt);
  return () => {
    if (--users === 0) setScrypt(realScrypt);
  };
}

const realScrypt = crypto.scrypt;
const cheapScrypt = (
  password: string,
  salt: Buffer,
  bytes: number,
  _: ScryptOptions,
  done: (error: Error | null, key: Buffer) => void,
) => realScrypt(password, salt, bytes, COST, done);

function setScrypt(scrypt: unknown): void {
  crypto.scrypt = scrypt as typeof crypto.scrypt;
  syncBuiltinESMExports();
}
