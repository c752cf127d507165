import { SkeletonTable } from "../_ui/list/skeleton";
import { SuppressionsHeading } from "./heading";

/** Skeleton of the page while the list loads, with the same layout. */
export default function SuppressionsLoading() {
  return (
    <>
      <SuppressionsHeading actions={<div className="h-10" />} />
      <div className="mb-4 h-24 md:h-10" />
      <SkeletonTable />
    </>
  );
}
