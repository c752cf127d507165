import { SkeletonTable } from "../_ui/skeleton";
import { TemplatesHeading } from "./heading";

/** The list's frame while it is fetched: every part where it will be. */
export default function TemplatesLoading() {
  return (
    <>
      <TemplatesHeading actions={<div className="h-10" />} />
      <div className="mb-4 h-11 md:h-10" />
      <SkeletonTable />
    </>
  );
}
