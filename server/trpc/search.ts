import { z } from "zod";
import { pageDomains } from "#server/services/domains/read";
import { scanEmails } from "#server/services/emails/read/list";
import { findKeysByName } from "#server/services/keys/read";
import { findMembers } from "#server/services/members/read";
import { searchSuppressions } from "#server/services/suppressions/search";
import { listTemplates } from "#server/services/templates/read";
import { findWebhooksByUrl } from "#server/services/webhooks/endpoints";
import { hasPermission, type Permission } from "#server/shared/roles";
import { filterOf } from "./emails/input";
import { inTeam, router } from "./init";

/** Of each noun. */
const rowsMax = 5;

const SearchInput = { text: z.string().trim().min(2).max(320) };

export const searchRouter = router({
  /**
   * What the text finds in the team, at most five of each noun. Emails and suppressions are found as in their
   * lists, the others by a part of their name. A noun that the role may not list has no rows.
   */
  everything: inTeam("team:read", SearchInput).query(async ({ ctx: { service, role }, input: { text } }) => {
    const limit = rowsMax;
    const listed = async <Row>(permission: Permission, read: () => Promise<readonly Row[]>) =>
      hasPermission(role, permission) ? read() : [];
    const [emails, suppressions, templates, domains, keys, webhooks, members] = await Promise.all([
      listed("emails:read", async () => {
        const query = { ...filterOf({ search: text }, service.clock()), limit };
        const { rows } = await service.replica.run(service, (from) => scanEmails(from, query));
        return rows;
      }),
      listed("suppressions:read", async () => {
        const { rows } = await searchSuppressions(service, { prefix: text, limit });
        return rows;
      }),
      listed("templates:read", async () => (await listTemplates(service, { search: text, limit })).rows),
      listed("domains:read", async () => (await pageDomains(service, { name: text, limit })).rows),
      listed("keys:read", () => findKeysByName(service, { part: text, limit })),
      listed("webhooks:read", () => findWebhooksByUrl(service, { part: text, limit })),
      listed("team:read", () => findMembers(service, { part: text, limit })),
    ]);
    return {
      emails: emails.map(({ id, subject, to, status }) => ({ id, subject, to: to[0] ?? null, status })),
      suppressions: suppressions.map(({ id, address }) => ({ id, address })),
      templates: templates.map(({ id, name }) => ({ id, name })),
      domains: domains.map(({ id, name }) => ({ id, name })),
      keys,
      webhooks,
      members,
    };
  }),
});
