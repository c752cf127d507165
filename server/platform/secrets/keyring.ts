import { AppError } from "../errors";
import { deriveKey } from "./secrets";

/**
 * A secret of the installation. The id identifies it in sealed values and in the database, and does not
 * reveal it.
 */
export type RingKey = { id: string; secret: string };

/** A key seals and signs from this time until the next period begins. */
export type Period = { keyId: string; fromMs: number };

export type Keyring = ReturnType<typeof createKeyring>;

/** The configured secrets are not those of the database. The message says what to do. */
export class SecretRejectedError extends Error {
  override name = "SecretRejectedError";
}

const UNCHECKED =
  "Nothing can be encrypted yet, because BACKSTAMP_SECRET has not been compared with the database. Repeat the request. If no " +
  "process has used this database yet, start Backstamp first: it records the secret.";
const idLength = 16;

/** 64 bits that are derived from the secret. */
export const keyIdOf = (secret: string): string => deriveKey(secret, "key-id").slice(0, idLength);

/**
 * The secrets of the installation: the configured one first, then those that only decrypt and verify. Which
 * of them encrypts and signs is recorded in the database, so that all processes change at the same time.
 * Until that record is read, it is the configured one.
 */
export function createKeyring(secrets: readonly [string, ...string[]]) {
  const keys = [...new Set(secrets)].map((secret): RingKey => ({ id: keyIdOf(secret), secret }));
  const byId = new Map(keys.map((key) => [key.id, key]));
  const given = keys[0] as RingKey;
  let signing: { key: RingKey; fromMs: number }[] = [];
  let state: "unchecked" | "admitted" | SecretRejectedError = "unchecked";
  const requireUsable = () => {
    if (state instanceof SecretRejectedError) throw state;
  };
  const active = (): RingKey => {
    requireUsable();
    return signing.at(-1)?.key ?? given;
  };
  return {
    /** The configured key first. */
    keys,
    /** The key of `BACKSTAMP_SECRET`, or the newest generated one. */
    given,
    find: (id: string): RingKey | null => byId.get(id) ?? null,
    /** The key that seals. Throws if the database rejected these secrets. */
    active,
    /**
     * The key that signs what was created at this time, so that each attempt of an email has the same bytes.
     * The active one, if that key was removed.
     */
    keyAt: (ms: number): RingKey => {
      const current = active();
      return signing.findLast(({ fromMs }) => fromMs <= ms)?.key ?? signing[0]?.key ?? current;
    },
    /** Throws if the database rejected these secrets. */
    requireUsable,
    isRejected: (): boolean => state instanceof SecretRejectedError,
    isChecked: (): boolean => state === "admitted",
    /**
     * Throws AppError `unavailable` until the database has admitted these secrets: another process might not
     * have them.
     */
    requireChecked(): void {
      requireUsable();
      if (state === "unchecked") throw new AppError("unavailable", UNCHECKED);
    },
    /** Applies the periods of the database. Those of unknown keys do not count. */
    admit(periods: readonly Period[]): void {
      state = "admitted";
      signing = periods
        .flatMap(({ keyId, fromMs }) => {
          const key = byId.get(keyId);
          return key ? [{ key, fromMs }] : [];
        })
        .sort((one, other) => one.fromMs - other.fromMs);
    },
    /** From now on nothing is sealed, opened or signed: the secrets are not those of the database. */
    reject(reason: SecretRejectedError): void {
      state = reason;
    },
  };
}
