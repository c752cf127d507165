import { SkeletonTable } from "../_ui/list/skeleton";

export default function ActivityLoading() {
  return (
    <>
      <div className="mb-4 h-11 md:h-10" />
      <SkeletonTable />
    </>
  );
}
