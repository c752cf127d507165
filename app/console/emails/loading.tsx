import { PageHeading } from "../_ui/page-heading";
import { SkeletonRows } from "./list-frame";

/** The list's frame while it is fetched: every part where it will be. */
export default function EmailsLoading() {
  return (
    <>
      <PageHeading title="Emails" />
      <div className="mb-4 h-[9.25rem] md:h-[5.5rem] lg:h-10" />
      <SkeletonRows />
    </>
  );
}
