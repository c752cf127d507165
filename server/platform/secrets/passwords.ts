import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "../errors";

/**
 * 32 MiB and about 0.2 s on one core. OWASP lists these parameters as equivalent to its first choice for
 * scrypt.
 */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
/** More than any stored hash requires. A tampered hash cannot cause a larger allocation. */
const memoryMaxBytes = 128 * 1024 * 1024;
const saltBytes = 16;
const hashBytes = 32;
/** Maximum concurrent hashes. scrypt runs on libuv's few threads, which DNS and file access also need. */
const runningMax = 2;
/** Beyond this queue length a caller would wait more than 10 s, so further calls are rejected immediately. */
const waitingMax = 100;

const STORED = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]{16,})\$([A-Za-z0-9_-]{43})$/;

/**
 * Hashes a password as `scrypt$N$r$p$salt$hash` (RFC 7914), salt and hash in base64url. Throws AppError
 * `unavailable` if too many calls wait.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/**
 * Whether the password matches the stored hash. Without a stored hash it does the same work and returns
 * false, so an unknown account takes as long as a wrong password. Throws AppError `unavailable` if too many
 * calls wait.
 */
export async function isPasswordCorrect(password: string, stored: string | null): Promise<boolean> {
  const [, n, r, p, salt, hash] = STORED.exec(stored ?? "") ?? [];
  if (!salt || !hash) {
    await derive(password, Buffer.alloc(saltBytes), COST);
    return false;
  }
  const cost = { N: Number(n), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt, "base64url"), cost);
  return timingSafeEqual(found, Buffer.from(hash, "base64url"));
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  if (running < runningMax) running++;
  else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
  else
    throw new AppError("unavailable", "Too many sign-in attempts are in progress. Retry in a few seconds.");
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...cost, maxmem: memoryMaxBytes };
      // A keyboard can produce é as one code point or as two.
      scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    // The slot goes directly to the next waiting call.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
