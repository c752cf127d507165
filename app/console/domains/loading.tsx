import { ListLoading } from "../_ui/list/skeleton";

/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Domains",
  description:
    "The domains that you send email from. Set up their DNS records once; they are checked regularly after that.",
};

export default function DomainsLoading() {
  return <ListLoading heading={HEADING} filterBar="h-11 md:h-10" rows={3} />;
}
