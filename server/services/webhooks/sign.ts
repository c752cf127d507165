import { createHmac } from "node:crypto";

export type Signing = {
  /** The same in every attempt, so that receivers can tell a repetition. */
  id: string;
  /** Of this attempt: receivers refuse what is older than five minutes. */
  timestampSeconds: number;
  /** The exact bytes that go out, as text. */
  body: string;
  /** Live secrets, `whsec_…`; each signs. */
  secrets: readonly string[];
};

/**
 * The headers by which a receiver knows that the call is ours (Standard Webhooks), each twice: several of the clients in
 * use read only the older `svix-` names.
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
