import { ListLoading } from "../_ui/list/skeleton";

/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Webhooks",
  description: "Endpoints that receive signed events about your email.",
};

export default function WebhooksLoading() {
  return <ListLoading heading={HEADING} rows={4} />;
}
