import { z } from "zod";
import type { Ctx } from "#server/deps";
import { describeSetup } from "#server/services/domains/announce";
import { verifyDomain } from "#server/services/domains/check/verify";
import { getDomain } from "#server/services/domains/dkim/credentials";
import { rotateDomainKey } from "#server/services/domains/dkim/rotate";
import { type Domain, pageDomains } from "#server/services/domains/read";
import { createDomain, deleteDomain, updateDomain } from "#server/services/domains/write";
import {
  DomainResponse,
  DomainSummaryResponse,
  presentDomain,
  presentDomainSummary,
} from "#server/shared/wire/domain";
import { changed, deleted, listOf } from "#server/shared/wire/shapes";
import { listJson, PAGING_OF_WHOLE, rejectTwoCursors } from "./pipeline/query";
import { withApi } from "./pipeline/route";
import { requireId } from "./pipeline/validate";
import { CreateDomainBody, UpdateDomainBody } from "./wire/domain-input";

/*
 * A key with a domain scope can read or change every domain of its team. A domain that the key adds is linked to it.
 * The links of a key decide which domains it may send from and which it may link to other keys.
 */

const bodyOf = (ctx: Ctx, domain: Domain) => ({ body: presentDomain(domain, describeSetup(ctx, domain)) });

export const postDomain = withApi(
  {
    method: "POST",
    path: "/api/domains",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Add a domain and get its DNS records",
    description:
      "The domain is linked to the calling key, which can send from it after verification. A key with access to all domains needs no link.",
    status: 201,
    body: CreateDomainBody,
    example: { body: { name: "example.com", custom_return_path: "send" } },
    response: DomainResponse,
    errors: ["conflict"],
  },
  async ({ ctx, body }) => bodyOf(ctx, await createDomain(ctx, body)),
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
    response: listOf(DomainSummaryResponse),
  },
  async ({ ctx, query }) => {
    rejectTwoCursors(query);
    const { rows, hasMore } = await pageDomains(ctx, query);
    return { body: listJson(rows.map(presentDomainSummary), hasMore) };
  },
);

export const getOneDomain = withApi(
  {
    method: "GET",
    path: "/api/domains/{id}",
    access: { scope: "domains:read" },
    tier: "other",
    summary: "Get a domain, its DNS records and the result of the last check of each",
    response: DomainResponse,
  },
  async ({ ctx, params }) => bodyOf(ctx, await getDomain(ctx, requireId(params, "id"))),
);

export const patchDomain = withApi(
  {
    method: "PATCH",
    path: "/api/domains/{id}",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Update a domain's tracking, TLS, capabilities, daily cap or warm-up",
    body: UpdateDomainBody,
    repeatsId: ["id"],
    example: {
      body: { tls: "enforced", warm_up: { first_day: 50, growth_percent: 50, target: 20_000 } },
    },
    response: changed("domain"),
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
    summary: "Delete a domain; queued email from it is not sent",
    response: deleted("domain"),
  },
  async ({ ctx, params }) => {
    const { id } = await deleteDomain(ctx, requireId(params, "id"));
    return { body: { object: "domain", id, deleted: true } } as const;
  },
);

/** The DNS check completes before the response, which contains its result. Clients that poll read the same result later. */
export const postDomainVerify = withApi(
  {
    method: "POST",
    path: "/api/domains/{id}/verify",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Check a domain's DNS records now, then again at increasing intervals",
    response: DomainResponse,
  },
  async ({ ctx, params }) => bodyOf(ctx, await verifyDomain(ctx, requireId(params, "id"))),
);

export const postDomainKeyRotation = withApi(
  {
    method: "POST",
    path: "/api/domains/{id}/dkim/rotate",
    access: { scope: "domains:write" },
    tier: "other",
    summary: "Rotate a domain's DKIM keys",
    description:
      "The new keys sign after their record is found in DNS. The record of the old keys must stay published until its `keep_until`.",
    response: DomainResponse,
  },
  async ({ ctx, params }) => bodyOf(ctx, await rotateDomainKey(ctx, requireId(params, "id"))),
);
