import { ListLoading } from "../../_ui/list/skeleton";

export default function RequestsLoading() {
  return <ListLoading filterBar="h-11 md:h-10" />;
}
