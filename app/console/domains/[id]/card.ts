import type { QueryKey } from "@tanstack/react-query";
import type { DomainView } from "#server/trpc/domain-views";

/** What each part of the page needs to change the domain. `whyNot` says what the reader's role lacks, if anything. */
export type CardProps = {
  teamId: string;
  domain: DomainView;
  refresh: QueryKey[];
  whyNot: string | undefined;
};
