import { SkeletonTable } from "../_ui/skeleton";
import { KeysHeading } from "./heading";

/** The list's frame while it is fetched: every part where it will be. */
export default function KeysLoading() {
  return (
    <>
      <KeysHeading actions={<div className="h-10" />} />
      <div className="mb-4 h-11 md:h-10" />
      <SkeletonTable />
    </>
  );
}
