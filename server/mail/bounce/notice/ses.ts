import { parseJson } from "#server/shared/text/parse-json";
import { parseSesEvents } from "../../callbacks/ses";
import { findField } from "../fields";
import { decodeText, type Part } from "../mime";
import type { Action, Reported } from "../report";

const ACTION_OF: Readonly<Record<string, Action>> = {
  bounced: "failed",
  delayed: "delayed",
  delivered: "delivered",
};

/** `complaining`: the recipients who complained, or one of them did. */
export type SesNotice = { reported: Reported[]; complaining: string[]; messageId: string | null };

/**
 * Reads a notification of Amazon SES that Amazon SNS sends by email: JSON, then a line `--` and a footer.
 * Null if the message is not one, or reports neither a delivery nor a complaint.
 */
export function parseSesNotice(message: Part): SesNotice | null {
  if (!/@sns\.amazonaws\.com>?$/i.test(findField(message.fields, "from")?.trim() ?? "")) return null;
  const [json = ""] = decodeText(message).split("\n--\n", 1);
  const events = parseSesEvents(parseJson(json.replaceAll("\n", "")));
  const reported = events.flatMap(({ kind, recipients, reply, host }): Reported[] => {
    const action = ACTION_OF[kind];
    return action === undefined ? [] : [{ action, recipients, reply, host }];
  });
  const complaining = events.flatMap(({ kind, recipients }) => (kind === "complained" ? recipients : []));
  const isEmpty = reported.length === 0 && complaining.length === 0;
  return isEmpty ? null : { reported, complaining, messageId: events[0]?.messageId ?? null };
}
