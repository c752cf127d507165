import { ListLoading } from "../_ui/list/skeleton";
import { HEADING } from "./heading";

export default function WebhooksLoading() {
  return <ListLoading heading={HEADING} rows={4} />;
}
