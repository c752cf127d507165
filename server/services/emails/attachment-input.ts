import { z } from "zod";
import { optional } from "./message-input";

/** In base64, over all files of a mail, as the dialect counts it. */
export const attachmentsBase64BytesMax = 40_000_000;
const filesMax = 100;
const filenameCharsMax = 255;

/** A file as a caller gives it: its bytes, or the address where they are to be fetched. */
export type GivenAttachment = {
  source: { content: Buffer } | { url: string };
  filename: string | null;
  contentType: string | null;
  contentId: string | null;
};

const NO_BASE64_LETTER = /[^A-Za-z0-9+/]/;

/**
 * Whether this is base64 (RFC 4648 section 4), padded or not. Looks for the first letter that is none: an expression that
 * matches the whole would need a stack as deep as the file is long.
 */
function isBase64(text: string): boolean {
  const letters = text.replace(/={1,2}$/, "");
  const padding = text.length - letters.length;
  const over = letters.length % 4;
  return over !== 1 && (padding === 0 || over + padding === 4) && !NO_BASE64_LETTER.test(letters);
}

/** Base64 with or without padding and line breaks; what is no base64 is taken as the text itself, as some clients send it. */
function bytesOfText(text: string): Buffer {
  const compact = text.replace(/[\r\n]+/g, "");
  return isBase64(compact) ? Buffer.from(compact, "base64") : Buffer.from(text, "utf8");
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
}

const BYTES = { type: "array", items: { type: "integer", minimum: 0, maximum: 255 } };

/** The same forms for the reference. */
const CONTENT_FORMS = {
  anyOf: [
    {
      type: "string",
      description: "Base64, with or without padding; what is none is taken as the text itself.",
    },
    { ...BYTES, description: "Each byte as a number, which takes 3.6 times as much room." },
    {
      type: "object",
      description: "A Buffer of Node as JSON shows it.",
      properties: { type: { const: "Buffer" }, data: BYTES },
      required: ["type", "data"],
      additionalProperties: false,
    },
  ],
};

/** Every form in which clients of the dialect really send bytes: base64, plain text, a list of bytes, a Node Buffer. */
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
    /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(;\s*[a-z0-9-]+=("[\x20-\x21\x23-\x5b\x5d-\x7e]*"|[a-z0-9._-]+))*$/i,
    "Must be a media type such as application/pdf.",
  )
  .refine((type) => !/^(multipart|message)\//i.test(type), "A file cannot be multipart or message.");

const ContentId = z
  .string("Must be a string.")
  .max(128, "At most 128 characters.")
  .regex(/^[\x21-\x3b\x3d\x3f-\x7e]+$/, "Must be printable ASCII without blanks and angle brackets.");

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
  .transform((file, refine): GivenAttachment => {
    const { content, path } = file;
    if ((content === undefined) === (path === undefined))
      refine.addIssue({
        code: "custom",
        message: "Give `content`, or `path` with a URL, and not both.",
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
  .max(filesMax, `At most ${filesMax} files.`);
