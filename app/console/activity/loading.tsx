import { ListLoading } from "../_ui/list/skeleton";

export default function ActivityLoading() {
  return <ListLoading filterBar="h-11 md:h-10" />;
}
