import type { Recorded } from "#server/services/returns/record";

/** Why something that came back changes nothing, in words. */
export const RETURN_REASONS: Record<Exclude<Recorded, "recorded">, string> = {
  repeated: "This report was recorded before.",
  outranked: "What is on record of the delivery weighs more, or as much.",
  impossible: "The mail is in no state in which anybody could know this of it.",
  unknown: "It names no mail of this installation, or does not prove that it does.",
  later: "An attempt at the mail is under way.",
};
