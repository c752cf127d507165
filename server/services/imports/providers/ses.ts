import { z } from "zod";
import { type FoundDomain, type FoundTemplate, foundDomain, foundTemplate } from "./found";
import { firstOf, type Provider, readTime, unreadable } from "./provider";

/*
 * Amazon SES. Shapes after the API reference and the JSON output of the AWS CLI, read on 2026-11-23:
 * https://docs.aws.amazon.com/cli/latest/reference/sesv2/list-suppressed-destinations.html
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SuppressedDestinationSummary.html
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_ListEmailIdentities.html
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetEmailIdentity.html
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetEmailTemplate.html
 * https://docs.aws.amazon.com/ses/latest/dg/send-personalized-email-advanced.html
 * The API is not called: its requests are signed with AWS credentials, which the AWS CLI manages. Its output
 * is the file.
 */
const SuppressedRow = z.object({
  emailaddress: z.string(),
  reason: z.enum(["BOUNCE", "COMPLAINT"]),
  lastupdatetime: z.unknown().optional(),
});
const Destinations = z
  .object({ SuppressedDestinationSummaries: z.array(z.unknown()) })
  .transform(({ SuppressedDestinationSummaries }) => SuppressedDestinationSummaries);
const Destination = z
  .object({ SuppressedDestination: z.unknown() })
  .transform(({ SuppressedDestination }) => [SuppressedDestination]);

const Identities = z.object({
  EmailIdentities: z.array(z.object({ IdentityName: z.string(), IdentityType: z.string() })),
});
const MailFrom = z.object({ MailFromAttributes: z.object({ MailFromDomain: z.string() }) });
const Identity = z.object({ IdentityType: z.string() });

/**
 * A list of identities, or the details of one. Details do not name the identity, of which MAIL FROM is a
 * subdomain.
 */
function readIdentities(document: unknown): FoundDomain[] | null {
  const list = Identities.safeParse(document);
  if (list.success)
    return list.data.EmailIdentities.map(({ IdentityName, IdentityType }) =>
      foundDomain(IdentityName, {
        exclusion: IdentityType === "EMAIL_ADDRESS" ? "It is an address. Add its domain instead." : null,
      }),
    );
  const { data } = MailFrom.safeParse(document);
  if (data === undefined) return Identity.safeParse(document).success ? [] : null;
  const host = data.MailFromAttributes.MailFromDomain;
  return [foundDomain(host.slice(host.indexOf(".") + 1), { returnPathHost: host, isDetail: true })];
}

const TemplateNames = z.object({ TemplatesMetadata: z.array(z.object({ TemplateName: z.string() })) });
const Part = z.string().nullish();
const Template = z.union([
  z
    .object({
      TemplateName: z.string(),
      TemplateContent: z.object({ Subject: Part, Text: Part, Html: Part }),
    })
    .transform(({ TemplateName: name, TemplateContent: { Subject, Text, Html } }) => ({
      name,
      Subject,
      Text,
      Html,
    })),
  z
    .object({
      Template: z.object({ TemplateName: z.string(), SubjectPart: Part, TextPart: Part, HtmlPart: Part }),
    })
    .transform(({ Template: { TemplateName: name, SubjectPart, TextPart, HtmlPart } }) => ({
      name,
      Subject: SubjectPart,
      Text: TextPart,
      Html: HtmlPart,
    })),
]);

/** The output of `get-email-template`, of the older `get-template`, or a list of names. */
function readTemplates(document: unknown): FoundTemplate[] | null {
  const names = TemplateNames.safeParse(document);
  if (names.success)
    return names.data.TemplatesMetadata.map(({ TemplateName: name }) =>
      foundTemplate({ id: name, name, alias: name }),
    );
  const { data } = Template.safeParse(document);
  if (data === undefined) return null;
  const { name, Subject, Html, Text } = data;
  return [
    foundTemplate({
      id: name,
      name,
      alias: name,
      subject: Subject ?? null,
      html: Html ?? null,
      text: Text ?? null,
    }),
  ];
}

export const ses: Provider = {
  name: "ses",
  label: "Amazon SES",
  api: null,
  suppressions: {
    rowsOf: firstOf(Destinations, Destination),
    unmarked: [],
    read: (row) => {
      const read = SuppressedRow.safeParse(row);
      if (!read.success)
        return unreadable(
          row,
          "The entry has no `EmailAddress`, or its `Reason` is not BOUNCE or COMPLAINT.",
        );
      const { emailaddress, reason, lastupdatetime } = read.data;
      return {
        address: emailaddress,
        list: reason === "BOUNCE" ? "bounces" : "complaints",
        at: readTime(lastupdatetime),
      };
    },
    fetch: null,
  },
  domains: { read: readIdentities, fetch: null },
  templates: { read: readTemplates, fetch: null },
  tags: { blocks: "handlebars", own: new Set(["amazonSESUnsubscribeUrl"]), other: null, withFallback: null },
};
