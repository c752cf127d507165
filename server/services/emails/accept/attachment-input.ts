import { z } from "zod";
import { optional } from "./message-input";

/** In base64, for all files of an email together, as the dialect counts it. */
export const attachmentsBase64BytesMax = 40_000_000;
const filesMax = 100;
const fetchedFilesMax = 20;
const filenameCharsMax = 255;

/** A file as the caller supplies it: its bytes, or the URL to fetch them from. */
export type AttachmentInput = {
  source: { content: Buffer } | { url: string };
  filename: string | null;
  contentType: string | null;
  contentId: string | null;
};

const NON_BASE64_CHARACTER = /[^A-Za-z0-9+/]/;

/**
 * Whether the text is base64 (RFC 4648 section 4), padded or not. Searches for the first character outside
 * the alphabet: an expression that matches the whole text would need a stack as deep as the file is long.
 */
function isBase64(text: string): boolean {
  const digits = text.replace(/={1,2}$/, "");
  const padding = text.length - digits.length;
  const over = digits.length % 4;
  return over !== 1 && (padding === 0 || over + padding === 4) && !NON_BASE64_CHARACTER.test(digits);
}

/**
 * Decodes base64, with or without padding and line breaks. Any other string is used as plain text, because
 * some clients send that.
 */
function bytesOfText(text: string): Buffer {
  const compact = text.replace(/[\r\n]+/g, "");
  return isBase64(compact) ? Buffer.from(compact, "base64") : Buffer.from(text, "utf8");
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
}

const BYTES = { type: "array", items: { type: "integer", minimum: 0, maximum: 255 } };

/** The same forms for the API reference. */
const CONTENT_FORMS = {
  anyOf: [
    {
      type: "string",
      description: "Base64, with or without padding. Any other string is used as plain text.",
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

/**
 * All forms in which clients of the dialect send bytes: base64, plain text, an array of bytes, a Node.js
 * Buffer.
 */
const Content = z
  .unknown()
  .transform((value, refine) => {
    if (typeof value === "string") return bytesOfText(value);
    if (isBytes(value)) return Buffer.from(value);
    if (typeof value === "object" && value !== null && "data" in value && isBytes(value.data))
      if ("type" in value && value.type === "Buffer" && Object.keys(value).length === 2)
        return Buffer.from(value.data);
    refine.addIssue({ code: "custom", message: "Must be base64, or a list of byte values from 0 to 255." });
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
    content: optional(Content),
    path: optional(z.string("Must be a URL.").max(2_000)),
    filename: z.preprocess((value) => (value === false ? undefined : value), optional(Filename)),
    content_type: optional(ContentType),
    contentType: optional(ContentType),
    content_id: optional(ContentId),
    inline_content_id: optional(ContentId),
  })
  .transform((file, refine): AttachmentInput => {
    const { content, path } = file;
    if ((content === undefined) === (path === undefined))
      refine.addIssue({
        code: "custom",
        message: "Set either `content`, or `path` with a URL, not both.",
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
