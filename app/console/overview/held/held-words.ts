import type { HeldView } from "#server/trpc/overview/overview";
import { formatCount } from "../../_ui/format-number";

export const formatDeliveries = (count: number) => formatCount(count, "delivery", "deliveries");

/** How many deliveries are held, with the verb. */
export const formatHeld = ({ deliveries, hasMore }: HeldView) =>
  `${hasMore ? "More than " : ""}${formatDeliveries(deliveries)} ${deliveries === 1 ? "is" : "are"} held`;
