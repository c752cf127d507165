import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "./errors";

/** 32 MiB and about a fifth of a second on one core; what OWASP names as equal to its first choice for scrypt. */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
/** Above what any stored string of ours asks for; a tampered one cannot make us allocate more. */
const memoryMaxBytes = 128 * 1024 * 1024;
const saltBytes = 16;
const hashBytes = 32;
/** scrypt runs on libuv's few threads, which also serve DNS and files: it never takes more than this many. */
const runningMax = 2;
/** Who comes after so many would wait for longer than ten seconds, and is better told at once. */
const waitingMax = 100;

const STORED = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]{16,})\$([A-Za-z0-9_-]{43})$/;

/**
 * `scrypt$N$r$p$salt$hash` (RFC 7914), salt and hash in base64url. Here and below AppError `unavailable` while too many wait.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/**
 * Whether the password is the one that was stored. Without a stored one it does the same work and says no, so that an
 * unknown account takes as long as a wrong password.
 */
export async function isPasswordRight(password: string, stored: string | null): Promise<boolean> {
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
    throw new AppError(
      "unavailable",
      "Too many passwords are being checked just now. Try again in a moment.",
    );
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...cost, maxmem: memoryMaxBytes };
      // One person may type é as one character or as two, depending on the keyboard.
      scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    // The place goes straight to the next one who waits.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
