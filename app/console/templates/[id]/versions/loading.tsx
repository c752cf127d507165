import { SkeletonCard, SkeletonTable } from "../../../_ui/list/skeleton";
import { VersionsHeading } from "./heading";

/** The loading state, with the layout of the page. */
export default function VersionsLoading() {
  return (
    <>
      <VersionsHeading id="" name="" />
      <div className="grid gap-5 xl:grid-cols-[22rem_minmax(0,1fr)]">
        <SkeletonTable rows={4} />
        <SkeletonCard lines={8} />
      </div>
    </>
  );
}
