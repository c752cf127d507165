import { z } from "zod";
import { getDomain } from "#server/services/domains/credentials";
import { pageDomains } from "#server/services/domains/read";
import { rotateDomainKey } from "#server/services/domains/rotate-key";
import { verifyDomain } from "#server/services/domains/verify";
import { createDomain, deleteDomain, updateDomain } from "#server/services/domains/write";
import { listJson, PAGING_OF_WHOLE, refuseTwoCursors } from "./query";
import { withApi } from "./route";
import { requireId } from "./validate";
import { DomainAnswer, DomainSummaryAnswer, domainJson, domainSummaryJson } from "./wire/domain";
import { CreateDomainBody, UpdateDomainBody } from "./wire/domain-input";
import { changed, deleted, listOf } from "./wire/shapes";

/*
 * With their scopes a key reaches every domain of its team, be it linked to it or not: a domain that was just added is
 * linked to nobody. Which domains a key may hand to others is another matter, and stands with the keys.
 */

export const postDomain = withApi(
  {
    method: "POST",
    path: "/api/domains",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Add a domain, and see what to publish for it",
    status: 201,
    body: CreateDomainBody,
    example: { body: { name: "example.com", custom_return_path: "send" } },
    answer: DomainAnswer,
    errors: ["conflict"],
  },
  async ({ ctx, body }) => ({ body: domainJson(ctx, await createDomain(ctx, body)) }),
);

export const getDomains = withApi(
  {
    method: "GET",
    path: "/api/domains",
    access: { scope: "domains:read" },
    tier: "other",
    summary: "List domains, newest first",
    query: z.strictObject(PAGING_OF_WHOLE),
    example: { query: { limit: "20" } },
    answer: listOf(DomainSummaryAnswer),
  },
  async ({ ctx, query }) => {
    refuseTwoCursors(query);
    const { rows, hasMore } = await pageDomains(ctx, query);
    return { body: listJson(rows.map(domainSummaryJson), hasMore) };
  },
);

export const getOneDomain = withApi(
  {
    method: "GET",
    path: "/api/domains/{id}",
    access: { scope: "domains:read" },
    tier: "other",
    summary: "Show a domain, its records, and what the last look at DNS saw of each",
    answer: DomainAnswer,
  },
  async ({ ctx, params }) => ({ body: domainJson(ctx, await getDomain(ctx, requireId(params, "id"))) }),
);

export const patchDomain = withApi(
  {
    method: "PATCH",
    path: "/api/domains/{id}",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Change a domain's tracking, TLS, capabilities, daily cap or warm-up",
    body: UpdateDomainBody,
    repeatsId: ["id"],
    example: {
      body: { tls: "enforced", warm_up: { first_day: 50, growth_percent: 50, target: 20_000 } },
    },
    answer: changed("domain"),
  },
  async ({ ctx, params, body }) => {
    const { id } = await updateDomain(ctx, requireId(params, "id"), body);
    return { body: { object: "domain", id } } as const;
  },
);

export const deleteOneDomain = withApi(
  {
    method: "DELETE",
    path: "/api/domains/{id}",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Delete a domain; mail that is queued from it is not sent",
    answer: deleted("domain"),
  },
  async ({ ctx, params }) => {
    const { id } = await deleteDomain(ctx, requireId(params, "id"));
    return { body: { object: "domain", id, deleted: true } } as const;
  },
);

/** The look is taken before the answer, which shows it; clients that poll for it find it as well. */
export const postDomainVerify = withApi(
  {
    method: "POST",
    path: "/api/domains/{id}/verify",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Look at a domain's records in DNS, now and at growing intervals",
    answer: DomainAnswer,
  },
  async ({ ctx, params }) => ({
    body: domainJson(ctx, await verifyDomain(ctx, requireId(params, "id"))),
  }),
);

export const postDomainKeyRotation = withApi(
  {
    method: "POST",
    path: "/api/domains/{id}/dkim/rotate",
    access: { scope: "domains:write" },
    tier: "other",
    summary:
      "Make new DKIM keys; they sign once their record is seen, and the old one stays published for a while",
    answer: DomainAnswer,
  },
  async ({ ctx, params }) => ({
    body: domainJson(ctx, await rotateDomainKey(ctx, requireId(params, "id"))),
  }),
);
