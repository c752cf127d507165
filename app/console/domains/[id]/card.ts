import type { QueryKey } from "@tanstack/react-query";
import type { DomainView } from "#server/trpc/domains/views";

/** Props of each card of the page. `disabledReason`: why the member cannot change the domain; undefined if they can. */
export type CardProps = {
  teamId: string;
  domain: DomainView;
  refresh: QueryKey[];
  disabledReason: string | undefined;
};
