import { AppError } from "#server/platform/errors";
import { areShort, type Reader } from "#server/platform/threads";
import { decodeFiles } from "#server/services/emails/accept/file-content";
import { fingerprintOf } from "#server/services/emails/accept/fingerprint";
import { checkTree, rejectOversizedTree, tokensMax } from "./tree";

// Drops a byte order mark at the start, as RFC 8259 section 8.1 allows.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The bytes of a body, and whether its fingerprint is needed. */
type Received = { bytes: Uint8Array; isFingerprinted: boolean };

/** A parsed body, whose files are decoded to Buffers; `undefined` if it is empty. */
export type JsonBody = { json: unknown; fingerprint: Uint8Array | null };

export const READ_JSON: Reader<Received, JsonBody> = {
  name: "readJson",
  read({ bytes, isFingerprinted }) {
    const json = parseJson(bytes);
    const fingerprint = isFingerprinted ? fingerprintOf(json) : null;
    decodeFiles(json);
    return { json, fingerprint };
  },
  isShort: ({ bytes }) => areShort(bytes),
  bytesOf: ({ bytes }) => bytes,
};

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new AppError("bad_json", "The body is not valid UTF-8. Encode it as UTF-8.", { cause });
  }
  if (text.length > tokensMax) rejectOversizedTree(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError(
      "bad_json",
      `The body is not valid JSON${describePosition(cause)}. Send one JSON value.`,
      {
        cause,
      },
    );
  }
  // The text is valid UTF-8 and valid JSON, so only an escape can contain NUL or half of a surrogate pair.
  checkTree(value, text.includes("\\u"));
  return value;
}

/** The position of a JSON syntax error. Other parts of the parser's message may quote the body. */
function describePosition(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return / at position \d+( \(line \d+ column \d+\))?/.exec(error.message)?.[0] ?? "";
}
