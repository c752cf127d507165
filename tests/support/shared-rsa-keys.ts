import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { isDeepStrictEqual, promisify } from "node:util";

/**
 * Creating an RSA key takes 0.15 s of processor time. The test files of a process share this number of keys,
 * in turn: for DKIM, and for the certificates and tokens of test servers.
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

  const generateSync = crypto.generateKeyPairSync as unknown as (type: string, options: object) => unknown;
  const pairs: unknown[] = [];
  let pairCount = 0;
  const takePair = (type: string, options: object): unknown => {
    // Of the default form, without an encoding or another size.
    if (type !== "rsa" || !isDeepStrictEqual(options, { modulusLength: 2048 }))
      return generateSync(type, options);
    const place = pairCount++ % keysMax;
    pairs[place] ??= generateSync(type, options);
    return pairs[place];
  };
  crypto.generateKeyPairSync = takePair as unknown as typeof crypto.generateKeyPairSync;
  syncBuiltinESMExports();
}
