import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";

/**
 * Creating an RSA key for DKIM takes 0.15 s of processor time. The test files of a process share this number
 * of keys, in turn.
 */
const keysMax = 8;

const original = crypto.generateKeyPair;
type Generate = (type: "rsa", options: object) => Promise<unknown>;

// A setup file runs before each test file, in a process that may have run others.
if (!original.name.startsWith("shared")) {
  const generate = promisify(original) as unknown as Generate;
  const keys: Promise<unknown>[] = [];
  let count = 0;
  const takeKey: Generate = (type, options) => {
    if (type !== "rsa") return generate(type, options);
    const place = count++ % keysMax;
    keys[place] ??= generate(type, options);
    return keys[place];
  };
  const sharedGenerateKeyPair = (...given: Parameters<typeof original>) => original(...given);
  crypto.generateKeyPair = Object.assign(sharedGenerateKeyPair, {
    [promisify.custom]: takeKey,
    __promisify__: takeKey,
  }) as unknown as typeof original;
  syncBuiltinESMExports();
}
