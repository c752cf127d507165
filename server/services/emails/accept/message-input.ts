import { z } from "zod";
import { checkHeaders } from "#server/mail/mime/headers";
import { optional } from "../../fields";
import { sizeRule, TemplateValues } from "../../templates/template-values";
import { decodeFileContent } from "./file-content";

const tagsMax = 75;
const headersMax = 50;

const TagWord = z
  .string("Must be a string.")
  .regex(/^[A-Za-z0-9_-]{1,256}$/, "Use 1 to 256 letters, digits, underscores or hyphens.");
export const Tags = z
  .array(
    z.strictObject(
      {
        name: TagWord.describe("Letters, digits, underscores and hyphens."),
        value: TagWord.describe("Letters, digits, underscores and hyphens."),
      },
      'Each tag must be { "name": …, "value": … }.',
    ),
    'Must be an array of { "name": …, "value": … }.',
  )
  .max(tagsMax, `At most ${tagsMax} tags. Remove some.`);

/**
 * Header names and values that a caller may set. Headers that the service writes itself are rejected by name.
 */
export const Headers = z
  .record(
    z.string(),
    z.string("A header's value must be a string."),
    'Must be an object of names and values: { "X-Entity-Ref-ID": "123" }.',
  )
  .transform((headers, refine) => {
    const list = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const fault =
      list.length > headersMax
        ? `At most ${headersMax} headers. Remove some.`
        : checkHeaders(list.map(({ name, value }) => [name, value]));
    if (fault) refine.addIssue(fault);
    return list;
  });

export const TemplateUse = z.strictObject(
  {
    id: z
      .string("Must be the template's id or alias.")
      .min(1, "Must be the template's id or alias.")
      .max(100, "Must be the template's id or alias.")
      .describe("Its id or alias."),
    variables: optional(TemplateValues).describe(`Values of its placeholders, by name. ${sizeRule}`),
  },
  'Must be an object: { "id": …, "variables": { … } }.',
);

/** When an email is sent: ISO 8601 or English words, relative to the time of the request. */
export const ScheduledAt = z
  .string("Must be a time, in ISO 8601 or in words.")
  .max(100, "At most 100 characters.");

/** In base64, for all files of an email together, as Resend counts it. */
export const attachmentsBase64BytesMax = 40_000_000;
const filesMax = 100;
/** By `path`, of one request. */
export const fetchedFilesMax = 20;
const filenameCharsMax = 255;

/** A file as the caller supplies it: its bytes, or the URL to fetch them from. */
export type AttachmentInput = {
  source: { content: Buffer } | { url: string };
  filename: string | null;
  contentType: string | null;
  contentId: string | null;
};

const BYTES = { type: "array", items: { type: "integer", minimum: 0, maximum: 255 } };

/** The same forms for the API reference. */
const CONTENT_FORMS = {
  anyOf: [
    {
      type: "string",
      description:
        "Base64 or base64url, with or without padding, also as a `data:` URI. Any other string is used as plain text.",
    },
    { ...BYTES, description: "Each byte as a number. Takes 3.6 times as much space as the bytes." },
    {
      type: "object",
      description: "A Node.js Buffer as JSON.",
      properties: { type: { const: "Buffer" }, data: BYTES },
      required: ["type", "data"],
      additionalProperties: false,
    },
  ],
};

const Content = z
  .unknown()
  .transform((value, refine) => {
    const bytes = decodeFileContent(value);
    if (bytes) return bytes;
    refine.addIssue("Must be base64, or a list of byte values from 0 to 255.");
    return z.NEVER;
  })
  .meta(CONTENT_FORMS);

const Filename = z
  .string("Must be a string.")
  .max(filenameCharsMax, `At most ${filenameCharsMax} characters.`)
  .regex(
    /^[^/\\\p{Cc}\u202a-\u202e\u2066-\u2069]*$/u,
    "Must be a plain file name, without slashes or control characters.",
  );

const ContentType = z
  .string("Must be a string.")
  .max(255)
  .regex(
    /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(; *[a-z0-9-]+=("[\x20-\x21\x23-\x5b\x5d-\x7e]*"|[a-z0-9._-]+))*$/i,
    "Must be a media type such as application/pdf.",
  )
  .refine((type) => !/^(multipart|message)\//i.test(type), "A file cannot be multipart or message.")
  // Some email clients decode an encoded word even here, and would use the name hidden in it.
  .refine((type) => !type.includes("=?"), 'Must not contain "=?". Set the file name in `filename`.');

const ContentId = z
  .string("Must be a string.")
  .max(128, "At most 128 characters.")
  .regex(/^[\x21-\x3b\x3d\x3f-\x7e]+$/, "Must be printable ASCII without spaces or angle brackets.");

const Attachment = z
  .strictObject({
    content: optional(Content).describe("The file. Required unless `path` is given."),
    path: optional(z.string("Must be a URL.").max(2_000)).describe(
      "A URL from which the file is fetched, in place of `content`.",
    ),
    filename: z
      .preprocess((value) => (value === false ? undefined : value), optional(Filename))
      .describe("The name of the file in the message."),
    content_type: optional(ContentType).describe("The media type. Default: by the name of the file."),
    contentType: optional(ContentType).describe("The same as `content_type`."),
    content_id: optional(ContentId).describe("Shows an image in the HTML at `cid:` with this id."),
    inline_content_id: optional(ContentId).describe("The same as `content_id`."),
  })
  .transform((file, refine): AttachmentInput => {
    const { content, path } = file;
    if ((content === undefined) === (path === undefined))
      refine.addIssue({
        code: "custom",
        message:
          path === undefined
            ? "Set `content` to the bytes of a file that is not empty, or `path` to its URL."
            : "Set either `content` or `path`, not both.",
        params: { error: "invalid_attachment" },
      });
    return {
      source: content === undefined ? { url: path ?? "" } : { content },
      filename: file.filename ?? null,
      contentType: file.content_type ?? file.contentType ?? null,
      contentId: file.content_id ?? file.inline_content_id ?? null,
    };
  });

export const Attachments = z
  .array(Attachment, "Must be an array of files.")
  .max(filesMax, `At most ${filesMax} files.`)
  .refine((files) => files.filter(({ source }) => "url" in source).length <= fetchedFilesMax, {
    error: `At most ${fetchedFilesMax} files by \`path\`. Send the others as \`content\`.`,
    // A file that is invalid itself has not been transformed.
    when: ({ issues }) => issues.length === 0,
  });
