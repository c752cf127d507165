import { ListLoading } from "../_ui/list/skeleton";
import { HEADING } from "./heading";

export default function DomainsLoading() {
  return <ListLoading heading={HEADING} filterBar="h-11 md:h-10" rows={3} />;
}
