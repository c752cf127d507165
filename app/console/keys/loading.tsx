import { SkeletonTable } from "../_ui/list/skeleton";
import { KeysHeading } from "./heading";

/** Skeleton of the page while the list loads, with the same layout. */
export default function KeysLoading() {
  return (
    <>
      <KeysHeading actions={<div className="h-10" />} />
      <div className="mb-4 h-11 md:h-10" />
      <SkeletonTable />
    </>
  );
}
