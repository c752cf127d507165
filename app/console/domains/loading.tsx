import { SkeletonTable } from "../_ui/list/skeleton";
import { DomainsHeading } from "./heading";

/** Skeleton of the page while the list loads, with the same layout. */
export default function DomainsLoading() {
  return (
    <>
      <DomainsHeading />
      <div className="mb-4 h-11 md:h-10" />
      <SkeletonTable rows={3} />
    </>
  );
}
