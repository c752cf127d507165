import type { HeldView } from "#server/trpc/overview/overview";
import { formatNumber } from "../../_ui/format-number";

/** For example `1,234 deliveries`. */
export const formatDeliveries = (count: number) =>
  `${formatNumber(count)} ${count === 1 ? "delivery" : "deliveries"}`;

/** How many deliveries are held, with the verb. */
export const formatHeld = ({ deliveries, hasMore }: HeldView) =>
  `${hasMore ? "More than " : ""}${formatDeliveries(deliveries)} ${deliveries === 1 ? "is" : "are"} held`;
