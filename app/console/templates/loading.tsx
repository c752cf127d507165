import { SkeletonTable } from "../_ui/list/skeleton";
import { TemplatesHeading } from "./heading";

/** The loading state, with the layout of the page. */
export default function TemplatesLoading() {
  return (
    <>
      <TemplatesHeading actions={<div className="h-10" />} />
      <div className="mb-4 h-11 md:h-10" />
      <SkeletonTable />
    </>
  );
}
