import { SkeletonTable } from "../_ui/skeleton";
import { SuppressionsHeading } from "./heading";

/** The list's frame while it is fetched: every part where it will be. */
export default function SuppressionsLoading() {
  return (
    <>
      <SuppressionsHeading actions={<div className="h-10" />} />
      <div className="mb-4 h-24 md:h-10" />
      <SkeletonTable />
    </>
  );
}
