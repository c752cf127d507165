import { SkeletonTable } from "../_ui/skeleton";
import { DomainsHeading } from "./heading";

/** The list's frame while it is fetched: every part where it will be. */
export default function DomainsLoading() {
  return (
    <>
      <DomainsHeading />
      <div className="mb-4 h-11 md:h-10" />
      <SkeletonTable rows={3} />
    </>
  );
}
