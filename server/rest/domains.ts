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
import { changed, deleted, listOf, presentChanged, presentDeleted } from "#server/shared/wire/shapes";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";
import { CreateDomainBody, UpdateDomainBody } from "./wire/domain-input";

/*
 * A key with a domain scope can read or change every domain of its team. A domain that the key adds is linked to it.
 * The links of a key decide which domains it may send from and which it may link to other keys.
 */

const present = (ctx: Ctx, domain: Domain) => presentDomain(domain, describeSetup(ctx, domain));

export const domainRoutes = [
  withApi(
    {
      route: "POST /api/domains",
      access: { scope: "domains:write" },
      summary: "Add a domain and get its DNS records",
      description:
        "The domain is linked to the calling key, which can send from it after verification. A key with access to all domains needs no link.",
      status: 201,
      body: CreateDomainBody,
      example: { body: { name: "example.com", custom_return_path: "send" } },
      response: DomainResponse,
      errors: ["conflict"],
    },
    async ({ ctx, body }) => present(ctx, await createDomain(ctx, body)),
  ),
  withApi(
    {
      route: "GET /api/domains",
      access: { scope: "domains:read" },
      summary: "List domains, newest first",
      query: listQuery({}, 100),
      example: { query: { limit: "20" } },
      response: listOf(DomainSummaryResponse),
    },
    async ({ ctx, query }) => listJson(await pageDomains(ctx, query), presentDomainSummary),
  ),
  withApi(
    {
      route: "GET /api/domains/{id}",
      access: { scope: "domains:read" },
      summary: "Get a domain, its DNS records and the result of the last check of each",
      response: DomainResponse,
    },
    async ({ ctx, params }) => present(ctx, await getDomain(ctx, params.id)),
  ),
  withApi(
    {
      route: "PATCH /api/domains/{id}",
      access: { scope: "domains:write" },
      summary: "Update a domain's tracking, TLS, capabilities, daily cap or warm-up",
      body: UpdateDomainBody,
      repeatsId: ["id"],
      example: {
        body: { tls: "enforced", warm_up: { first_day: 50, growth_percent: 50, target: 20_000 } },
      },
      response: changed("domain"),
    },
    async ({ ctx, params, body }) => presentChanged("domain", await updateDomain(ctx, params.id, body)),
  ),
  withApi(
    {
      route: "DELETE /api/domains/{id}",
      access: { scope: "domains:write" },
      summary: "Delete a domain; queued email from it is not sent",
      response: deleted("domain"),
    },
    async ({ ctx, params }) => presentDeleted("domain", await deleteDomain(ctx, params.id)),
  ),
  /** The DNS check completes before the response, which contains its result. Clients that poll read the same result later. */
  withApi(
    {
      route: "POST /api/domains/{id}/verify",
      access: { scope: "domains:write" },
      summary: "Check a domain's DNS records now, then again at increasing intervals",
      response: DomainResponse,
    },
    async ({ ctx, params }) => present(ctx, await verifyDomain(ctx, params.id)),
  ),
  withApi(
    {
      route: "POST /api/domains/{id}/dkim/rotate",
      access: { scope: "domains:write" },
      summary: "Rotate a domain's DKIM keys",
      description:
        "The new keys sign after their record is found in DNS. The record of the old keys must stay published until its `keep_until`.",
      response: DomainResponse,
    },
    async ({ ctx, params }) => present(ctx, await rotateDomainKey(ctx, params.id)),
  ),
];
