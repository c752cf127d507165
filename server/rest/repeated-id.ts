import { AppError } from "#server/errors";

/**
 * A body without those of its fields `names` that say the id of the path once more, as clients of several languages send
 * them. One that says another id is refused: which of the two was meant cannot be known.
 */
export function dropRepeatedId(json: unknown, names: readonly string[], id: string | undefined): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const rest: Record<string, unknown> = { ...json };
  for (const name of names) {
    const said = rest[name];
    if (said === undefined) continue;
    if (typeof said !== "string" || said.toLowerCase() !== id?.toLowerCase())
      throw new AppError("invalid", `Invalid \`${name}\`: the path says another id. Leave it out.`);
    delete rest[name];
  }
  return rest;
}
