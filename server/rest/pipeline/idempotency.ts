import { AppError } from "#server/platform/errors";
import { isIdempotencyKey, keyLengthMax } from "#server/services/emails/accept/idempotency";
import type { Once } from "#server/services/emails/accept/send";
import type { Route } from "./route";

/**
 * Reads `Idempotency-Key`: 1 to 256 printable ASCII characters, stored for 24 hours per team and route, with
 * the fingerprint of the parsed body.
 */
export function parseIdempotencyKey(
  request: Request,
  { method, path, status }: Route,
  fingerprint: Uint8Array,
): Once | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!isIdempotencyKey(key))
    throw new AppError(
      "bad_idempotency_key",
      `The \`Idempotency-Key\` header must have 1 to ${keyLengthMax} printable ASCII characters. Use a UUID, for example.`,
    );
  return { route: `${method} ${path}`, key, fingerprint, status };
}
