import { formatNumber } from "#server/shared/format-number";
import type { HeldView } from "#server/trpc/overview/overview";

/** For example `1,234 deliveries`. */
export const formatDeliveries = (count: number) =>
  `${formatNumber(count)} ${count === 1 ? "delivery" : "deliveries"}`;

/** How many deliveries are held, with the verb. */
export const formatHeld = ({ deliveries, hasMore }: HeldView) =>
  `${hasMore ? "More than " : ""}${formatDeliveries(deliveries)} ${deliveries === 1 ? "is" : "are"} held`;
