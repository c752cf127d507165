import { AppError } from "#server/platform/errors";

/**
 * Removes the body fields in `names` that repeat the id of the path: clients in several languages send them. A field with a
 * different id is rejected, because the intended id is ambiguous.
 */
export function dropRepeatedId(json: unknown, names: readonly string[], id: string | undefined): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const rest: Record<string, unknown> = { ...json };
  for (const name of names) {
    const value = rest[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || value.toLowerCase() !== id?.toLowerCase())
      throw new AppError("invalid", `Invalid \`${name}\`: it differs from the id in the path. Remove it.`);
    delete rest[name];
  }
  return rest;
}
