import { addDomain } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { openDeps } from "../support/deps";
import { SUBSCRIBED_EVENTS } from "./hooks";

const manyRequests = 1_000_000;

/** The team of a rig: its domain, a key with all scopes and high limits, and an endpoint. */
export async function openTeam(
  databaseUrl: string,
  domain: string,
  endpoint: string,
): Promise<{ token: string; webhookId: string }> {
  const { deps, close } = openDeps(databaseUrl, { transportKind: "relay", connectionsMax: 4 });
  try {
    const team = await createTeam(deps, { name: "Chaos" });
    const ctx = { ...deps, teamId: team.id, actor: { kind: "operator" as const }, requestId: "chaos" };
    await addDomain(ctx, { name: domain, verified: true });
    const webhook = await createWebhook(ctx, {
      url: endpoint,
      events: [...SUBSCRIBED_EVENTS],
      status: "enabled",
    });
    const { token } = await createKey(ctx, {
      name: "chaos",
      scopes: ["emails:send", "emails:read", "webhooks:read", "webhooks:write"],
      domains: [domain],
      limits: {
        "POST /api/emails": manyRequests,
        "GET /api/emails": manyRequests,
        "POST /api/templates": manyRequests,
        other: manyRequests,
      },
    });
    return { token, webhookId: webhook.id };
  } finally {
    await close();
  }
}
