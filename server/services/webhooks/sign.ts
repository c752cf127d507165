import { createHmac } from "node:crypto";

export type Signing = {
  /** The same in every attempt, so receivers can detect duplicates. */
  id: string;
  /** The time of this attempt: receivers reject timestamps older than five minutes. */
  timestampSeconds: number;
  /** The exact request body, as text. */
  body: string;
  /** The active secrets, `whsec_…`. Each one signs. */
  secrets: readonly string[];
};

/**
 * The headers that authenticate a call (Standard Webhooks). Each is sent twice, because several common client
 * libraries read only the older `svix-` names.
 */
export function signatureHeaders({ id, timestampSeconds, body, secrets }: Signing): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const digest = createHmac("sha256", key).update(`${id}.${timestampSeconds}.${body}`).digest("base64");
    return `v1,${digest}`;
  });
  const values = { id, timestamp: String(timestampSeconds), signature: signatures.join(" ") };
  return Object.fromEntries(
    ["webhook", "svix"].flatMap((prefix) =>
      Object.entries(values).map(([name, value]) => [`${prefix}-${name}`, value]),
    ),
  );
}
