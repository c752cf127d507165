import { Skeleton } from "../_ui/list/skeleton";
import { PageHeading } from "../_ui/page/page-heading";
import { SkeletonRows } from "./email-columns";

/** The loading state, with the layout of the page. */
export default function EmailsLoading() {
  return (
    <>
      <PageHeading
        title="Emails"
        actions={
          <>
            <Skeleton className="h-9 w-36 rounded-lg max-md:h-11" />
            <Skeleton className="h-9 w-32 rounded-lg max-md:h-11" />
          </>
        }
      />
      <div className="mb-4 h-[9.25rem] md:h-[5.5rem] lg:h-10" />
      <SkeletonRows />
    </>
  );
}
