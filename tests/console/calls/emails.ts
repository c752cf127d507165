import { newId } from "#server/platform/ids";
import { createKey } from "#server/services/keys/keys";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

export function emailCalls({ world }: Console): ProcedureCalls {
  const emailOf = async ({ ctx }: RoleTeam, scheduledAt: string | null = null) =>
    (await world.send({ sender: "ann@backstamp.test", to: ["delivered@backstamp.test"], scheduledAt }, ctx))
      .id;
  const withStatus = async (party: RoleTeam, status: "failed" | "unknown") => {
    const id = await emailOf(party);
    await world.hot`update deliveries set status = ${status} where email_id = ${id}`;
    await world.hot`update emails set status = ${status} where id = ${id}`;
    return id;
  };
  const keyOf = async ({ ctx }: RoleTeam) =>
    (await createKey(ctx, { name: "Shop", scopes: ["emails:send"], domains: "all" })).key.id;
  const byId = (extra: object = {}) => ({
    input: async (party: RoleTeam) => ({ id: await emailOf(party), ...extra }),
    names: ["id"],
  });

  return {
    "emails.list": {
      input: async (party) => ({ after: await emailOf(party), key: await keyOf(party), search: newId() }),
      names: ["after", "before", "upTo", "key", "search"],
    },
    "emails.choices": { input: async () => ({}), names: [] },
    "emails.countRetryable": {
      input: async (party) => ({ key: await keyOf(party), acceptDuplicates: false }),
      names: ["key", "search"],
    },
    "emails.get": byId(),
    "emails.content": byId(),
    "emails.html": byId(),
    "emails.eventDeliveries": byId(),
    "emails.asCall": byId(),
    "emails.retry": {
      input: async (party) => ({ id: await withStatus(party, "failed"), acceptDuplicates: false }),
      names: ["id"],
    },
    "emails.sendAgain": {
      input: async (party) => ({
        id: await emailOf(party),
        to: ["delivered@backstamp.test"],
        cc: ["delivered+cc@backstamp.test"],
        bcc: ["delivered+bcc@backstamp.test"],
        repeatKey: newId(),
      }),
      names: ["id"],
    },
    "emails.suppressedRecipients": byId({ to: ["delivered@backstamp.test"], cc: [], bcc: [] }),
    "emails.sendTest": {
      input: async () => ({ from: "hello@backstamp.test", to: "delivered@backstamp.test" }),
      names: [],
    },
    "emails.cancel": {
      input: async (party) => ({ id: await emailOf(party, "in 2 hours") }),
      names: ["id"],
    },
    "emails.reschedule": {
      input: async (party) => ({ id: await emailOf(party, "in 2 hours"), at: "in 3 hours" }),
      names: ["id"],
    },
    "emails.settle": {
      input: async (party) => ({ id: await withStatus(party, "unknown"), as: "sent" }),
      names: ["id"],
    },
    "emails.retrySelected": {
      input: async (party) => ({ ids: [await withStatus(party, "failed")], acceptDuplicates: false }),
      names: ["ids.0"],
    },
    "emails.cancelSelected": {
      input: async (party) => ({ ids: [await emailOf(party, "in 2 hours")] }),
      names: ["ids.0"],
    },
    "emails.retryMatching": {
      input: async (party) => {
        const key = await keyOf(party);
        await world.hot`update emails set api_key_id = ${key} where id = ${await withStatus(party, "failed")}`;
        return { key, acceptDuplicates: false, next: null };
      },
      names: ["key", "search"],
    },
  };
}
