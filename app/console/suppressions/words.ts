import type { SuppressionRow } from "#server/trpc/suppressions";
import type { Tone } from "../_ui/statuses";
import type { Origin } from "./filters";

/** How an address came onto the list, in words. */
export const ORIGIN_WORDS: Record<Origin, { label: string; many: string; tone: Tone; means: string }> = {
  bounce: {
    label: "Bounced",
    many: "bounced",
    tone: "bad",
    means: "Its mail server says that the address is dead.",
  },
  complaint: {
    label: "Complained",
    many: "complained",
    tone: "warn",
    means: "Its reader marked a mail as spam.",
  },
  manual: { label: "By hand", many: "by hand", tone: "mute", means: "Somebody put it on the list." },
};

/** Why no mail goes to an address, in one sentence. */
export const sayReason = ({ origin, listsOnly, reply }: SuppressionRow): string => {
  if (listsOnly) return "Its reader unsubscribed. Mail that does not offer to unsubscribe is still sent.";
  return reply ?? ORIGIN_WORDS[origin].means;
};
