import type { Recorded } from "#server/services/returns/record";

/** Why a report changes no delivery, as text. */
export const RETURN_REASONS: Record<Exclude<Recorded, "recorded">, string> = {
  repeated: "This report is already recorded.",
  outranked: "The recorded status of the delivery has the same or a higher precedence.",
  impossible: "The report does not fit the current status of the delivery.",
  unknown: "The report does not identify an email of this installation, or its reference cannot be verified.",
  later: "A delivery attempt is in progress.",
};
