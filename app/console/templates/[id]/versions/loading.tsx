import { SkeletonCard, SkeletonTable } from "../../../_ui/skeleton";
import { VersionsHeading } from "./heading";

/** The page's frame while the versions are fetched. */
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
