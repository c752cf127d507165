import { formatDate } from "#server/mail/mime/compose";
import { hasEightBit, rewriteBodies, toSevenBit } from "#server/mail/mime/raw/convert";
import { parseHeader } from "#server/mail/mime/raw/fields";
import { parseFrom } from "#server/mail/mime/raw/sender";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { type CopyParts, copyBody } from "./copy-body";

type Submitted = {
  id: string;
  raw: Uint8Array;
  senderAddress: string;
  messageId: string;
  createdAt: Date;
};

type Copy = CopyParts & { returnPath: string };

/**
 * The message to send for one that was submitted over SMTP: its bytes, with a Date and a Message-ID if it has
 * none, and with what only this copy contains. The same rows give the same bytes. RangeError if its From
 * header is not the sender that was checked.
 */
export function submittedMessage(
  { id, raw, senderAddress, messageId, createdAt }: Submitted,
  { returnPath, ...parts }: Copy,
): OutgoingMessage {
  const { fields } = parseHeader(raw);
  const from = parseFrom(fields);
  if (!from.ok || from.mailbox.address !== senderAddress)
    throw new RangeError("the From header of a submitted email differs from the sender that was checked");
  const has = (wanted: string) => fields.some(({ name }) => name === wanted);
  const added = [
    ...(has("date") ? [] : [`Date: ${formatDate(createdAt)}`]),
    ...(has("message-id") ? [] : [`Message-ID: <${messageId}>`]),
    ...(parts.unsubscribeLink === undefined
      ? []
      : [
          `List-Unsubscribe: <${parts.unsubscribeLink}>`,
          "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        ]),
  ];
  const isChanged = parts.marks !== undefined || parts.unsubscribeLink !== undefined;
  const content = isChanged ? rewriteBodies(raw, (body, as) => copyBody(body, as, parts)) : raw;
  const bytes =
    added.length === 0 ? content : Buffer.concat([Buffer.from(`${added.join("\r\n")}\r\n`), content]);
  const sevenBit = hasEightBit(bytes) ? toSevenBit(bytes) : undefined;
  return {
    id,
    returnPath,
    bytes,
    // Only the header needs SMTPUTF8. Other 8-bit bytes, such as a preamble, are content.
    smtpUtf8: hasEightBit(bytes.subarray(0, parseHeader(bytes).bodyStart)),
    messageId,
    ...(sevenBit && { sevenBit: { bytes: sevenBit } }),
  };
}
