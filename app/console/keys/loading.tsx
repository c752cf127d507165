import { ListLoading } from "../_ui/list/skeleton";

/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "API keys",
  description: "API keys authenticate API requests. Each key has its own permissions.",
};

export default function KeysLoading() {
  return <ListLoading heading={HEADING} filterBar="h-11 md:h-10" />;
}
