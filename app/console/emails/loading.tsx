import { ListLoading, Skeleton } from "../_ui/list/skeleton";

const actions = (
  <>
    <Skeleton className="h-9 w-36 rounded-lg max-md:h-11" />
    <Skeleton className="h-9 w-32 rounded-lg max-md:h-11" />
  </>
);

export default function EmailsLoading() {
  return <ListLoading heading={{ title: "Emails", actions }} filterBar="h-[9.25rem] md:h-[5.5rem] lg:h-10" />;
}
