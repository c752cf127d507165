import { z } from "zod";

/*
 * How the clients parse responses. Each shape is the union of their requirements: .NET parses ids as Guid,
 * times as DateTime and closed sets of words; Rust fails on a missing key and an unknown word; Go on a value
 * of another type. For Go and .NET null is the empty value of a class or string.
 */

const Id = z.uuid();
const Time = z.iso.datetime({ offset: true });
const Text = z.string().nullish();
const Texts = z.array(z.string());

const Email = z.object({
  id: Id,
  message_id: Text,
  from: z.string(),
  to: Texts,
  // Rust requires these two, but they may be null.
  cc: Texts.nullable(),
  bcc: Texts.nullable(),
  reply_to: Texts.nullish(),
  subject: z.string(),
  html: Text,
  text: Text,
  created_at: Time,
  scheduled_at: Time.nullish(),
  last_event: z.enum([
    "bounced",
    "canceled",
    "clicked",
    "complained",
    "delivered",
    "delivery_delayed",
    "failed",
    "opened",
    "queued",
    "scheduled",
    "sent",
  ]),
  tags: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});

const File = z.object({
  id: Id,
  filename: z.string().nullish(),
  size: z.int(),
  content_type: z.string(),
  content_disposition: z.enum(["inline", "attachment"]),
  content_id: Text,
  download_url: z.url(),
  expires_at: Time,
});

const Record = z
  .object({
    record: z.enum(["SPF", "DKIM", "Receiving MX", "Tracking", "TrackingCAA"]),
    name: z.string(),
    type: z.enum(["MX", "TXT", "CNAME", "CAA"]),
    value: z.string(),
    ttl: z.string(),
    priority: z.int().nullish(),
    status: z.enum(["not_started", "pending", "failed", "temporary_failure", "verified"]),
  })
  .refine(({ record, type }) => record !== "SPF" || type === "MX" || type === "TXT");

const Capability = z.enum(["enabled", "disabled"]);
const DomainSummary = z.object({
  id: Id,
  name: z.string(),
  status: z.enum(["not_started", "pending", "failed", "verified", "partially_verified", "partially_failed"]),
  created_at: Time,
  region: z.enum(["us-east-1", "eu-west-1", "sa-east-1", "ap-northeast-1"]),
  capabilities: z.object({ sending: Capability, receiving: Capability }),
  open_tracking: z.boolean().nullish(),
  click_tracking: z.boolean().nullish(),
  tracking_subdomain: Text,
});

const TemplateSummary = z.object({
  id: Id,
  name: z.string(),
  alias: Text,
  status: z.enum(["draft", "published"]),
  published_at: Time.nullish(),
  created_at: Time,
  updated_at: Time,
});

const Template = TemplateSummary.extend({
  current_version_id: Id,
  has_unpublished_versions: z.boolean(),
  from: Text,
  subject: Text,
  reply_to: Texts.nullish(),
  html: z.string(),
  text: Text,
  variables: z
    .array(
      z.object({
        key: z.string(),
        type: z.enum(["string", "number"]),
        fallback_value: z.union([z.string(), z.number()]).nullish(),
      }),
    )
    .nullish(),
});

const Key = z.object({ id: Id, name: z.string(), created_at: Time, last_used_at: Time.nullish() });
const Webhook = z.object({
  id: Id,
  endpoint: z.string(),
  events: Texts,
  status: z.enum(["enabled", "disabled"]),
  created_at: Time,
  signing_secret: z.string().startsWith("whsec_"),
});
const Suppression = z.object({
  id: Id,
  email: z.string(),
  origin: z.enum(["bounce", "complaint", "manual"]),
  source_id: Id.nullish(),
  created_at: Time,
});

const Named = z.object({ object: z.string(), id: Id });
const Removed = Named.extend({ deleted: z.literal(true) });

const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ object: z.literal("list"), has_more: z.boolean(), data: z.array(item).min(1) });

/** By the names in the request files. */
export const SHAPES: Record<string, z.ZodType> = {
  sent: z.object({ id: Id }),
  batch: z.object({
    data: z.array(z.object({ id: Id })).min(1),
    errors: z.array(z.object({ index: z.int(), message: z.string() })).optional(),
  }),
  email: Email.extend({ object: z.literal("email") }),
  emails: listOf(Email),
  files: listOf(File),
  object: Named,
  removed: Removed,
  domain: DomainSummary.extend({ records: z.array(Record).min(1) }),
  domains: listOf(DomainSummary),
  template: Template,
  templates: listOf(TemplateSummary),
  key: z.object({ id: Id, token: z.string().startsWith("re_") }),
  keys: listOf(Key),
  secret: z.object({ object: z.string(), id: Id, signing_secret: z.string().startsWith("whsec_") }),
  webhook: Webhook,
  suppression: Suppression.extend({ object: z.literal("suppression") }),
  added: z.object({ data: z.array(Named).min(1) }),
  removals: z.object({ data: z.array(Removed).min(1) }),
  error: z.object({
    statusCode: z.int(),
    message: z.string().min(1),
    // The words of .NET's closed set that the tests use.
    name: z.enum(["validation_error", "missing_required_field", "not_found", "invalid_parameter"]),
  }),
};
