import { ListLoading } from "../_ui/list/skeleton";

/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Suppressions",
  description:
    "This team does not send email to these addresses; such email gets the status Suppressed. Addresses that hard-bounce or complain are added automatically, except test addresses at backstamp.test.",
};

export default function SuppressionsLoading() {
  return <ListLoading heading={HEADING} filterBar="h-24 md:h-10" />;
}
