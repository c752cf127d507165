import { ListLoading } from "../_ui/list/skeleton";
import { HEADING } from "./heading";

export default function SuppressionsLoading() {
  return <ListLoading heading={HEADING} filterBar="h-24 md:h-10" />;
}
