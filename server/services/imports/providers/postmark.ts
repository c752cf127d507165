import { z } from "zod";
import { pagesMax } from "../provider-call";
import { foundDomain, foundTemplate } from "./found";
import { firstOf, type List, type Provider, readTime, unreadable } from "./provider";

/*
 * Postmark. Shapes after the API reference, read on 2026-11-23:
 * https://postmarkapp.com/developer/api/suppressions-api
 * https://postmarkapp.com/developer/api/message-streams-api
 * https://postmarkapp.com/developer/api/domains-api
 * https://postmarkapp.com/developer/api/templates-api
 * https://postmarkapp.com/support/article/1174-managing-layouts-with-postmark-s-api
 * Postmark suppresses per message stream, Backstamp per team. A manual suppression by the recipient is an
 * unsubscribe.
 */
const SuppressedRow = z
  .object({
    emailaddress: z.string().optional(),
    email: z.string().optional(),
    suppressionreason: z.string().optional(),
    reason: z.string().optional(),
    origin: z.string().optional(),
    createdat: z.unknown().optional(),
  })
  .transform((row) => ({
    ...row,
    email: row.emailaddress ?? row.email,
    reason: row.suppressionreason ?? row.reason,
  }));

const Dump = z.object({ Suppressions: z.array(z.unknown()) }).transform(({ Suppressions }) => Suppressions);
const Streams = z.object({
  MessageStreams: z.array(z.object({ ID: z.string(), MessageStreamType: z.string() })),
});

const pageRows = 500;
const DomainDetails = z.object({ Name: z.string(), ID: z.number(), ReturnPathDomain: z.string().nullish() });
const DomainList = z.object({ Domains: z.array(DomainDetails) }).transform(({ Domains }) => Domains);

const Template = z.object({
  TemplateId: z.number(),
  Name: z.string(),
  Alias: z.string().nullish(),
  Active: z.boolean(),
  TemplateType: z.string().nullish(),
  LayoutTemplate: z.string().nullish(),
  Subject: z.string().nullish(),
  HtmlBody: z.string().nullish(),
  TextBody: z.string().nullish(),
});
const TemplateList = z.object({ Templates: z.array(Template) }).transform(({ Templates }) => Templates);

function listOf(reason: string, origin: string): List | null {
  switch (reason.replace(/\s/g, "").toLowerCase()) {
    case "hardbounce":
      return "bounces";
    case "spamcomplaint":
      return "complaints";
    case "manualsuppression":
      return origin.toLowerCase() === "recipient" ? "group-unsubscribes" : "manual";
    default:
      return null;
  }
}

export const postmark: Provider = {
  name: "postmark",
  label: "Postmark",
  api: {
    urls: { us: "https://api.postmarkapp.com" },
    // Domains belong to the account, everything else to a server.
    headersOf: (key, what) => ({ [`x-postmark-${what === "domains" ? "account" : "server"}-token`]: key }),
  },
  suppressions: {
    rowsOf: firstOf(Dump),
    unmarked: [],
    read: (row) => {
      const { email, reason = "", origin = "", createdat } = SuppressedRow.safeParse(row).data ?? {};
      if (email === undefined) return unreadable(row, "The row has no `EmailAddress`.");
      const list = listOf(reason, origin);
      if (list === null)
        return unreadable(row, "`SuppressionReason` must be HardBounce, SpamComplaint or ManualSuppression.");
      return { address: email, list, at: readTime(createdat) };
    },
    fetch: async function* (call) {
      const { MessageStreams } = await call("/message-streams?MessageStreamType=All", Streams);
      for (const { ID, MessageStreamType } of MessageStreams)
        if (MessageStreamType !== "Inbound")
          yield {
            list: null,
            rows: await call(`/message-streams/${encodeURIComponent(ID)}/suppressions/dump`, Dump),
          };
    },
  },
  domains: {
    read: (document) =>
      firstOf(
        DomainList,
        DomainDetails.transform((domain) => [domain]),
      )(document)
        ?.map((each) => DomainDetails.parse(each))
        .map(({ Name, ReturnPathDomain }) =>
          foundDomain(Name, { returnPathHost: ReturnPathDomain || null }),
        ) ?? null,
    fetch: async function* (call) {
      for (let page = 0; page < pagesMax; page++) {
        const domains = await call(`/domains?count=${pageRows}&offset=${page * pageRows}`, DomainList);
        for (const { ID } of domains) yield await call(`/domains/${ID}`, DomainDetails);
        if (domains.length < pageRows) break;
      }
    },
  },
  templates: {
    read: (document) =>
      firstOf(
        TemplateList,
        Template.transform((template) => [template]),
      )(document)
        ?.map((each) => Template.parse(each))
        .map((each) =>
          foundTemplate({
            id: String(each.TemplateId),
            name: each.Name,
            alias: each.Alias ?? null,
            subject: each.Subject ?? null,
            html: each.HtmlBody ?? null,
            text: each.TextBody ?? null,
            isPublished: each.Active,
            layout: each.LayoutTemplate ?? null,
            isLayout: each.TemplateType === "Layout",
          }),
        ) ?? null,
    fetch: async function* (call) {
      for (let page = 0; page < pagesMax; page++) {
        const templates = await call(
          `/templates?Count=${pageRows}&Offset=${page * pageRows}&TemplateType=All`,
          TemplateList,
        );
        for (const { TemplateId } of templates) yield await call(`/templates/${TemplateId}`, Template);
        if (templates.length < pageRows) break;
      }
    },
  },
  tags: { blocks: "mustachio", own: new Set(), other: null, withFallback: null },
};
