import { ListLoading } from "../_ui/list/skeleton";
import { HEADING } from "./heading";

export default function KeysLoading() {
  return <ListLoading heading={HEADING} filterBar="h-11 md:h-10" />;
}
