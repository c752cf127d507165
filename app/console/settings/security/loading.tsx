import { SkeletonCard } from "../../_ui/list/skeleton";

export default function SecurityLoading() {
  return (
    <div className="flex flex-col gap-6">
      <SkeletonCard lines={4} />
      <SkeletonCard lines={5} />
      <SkeletonCard lines={3} />
      <SkeletonCard lines={5} />
    </div>
  );
}
