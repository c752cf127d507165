import { SkeletonCard } from "../../_ui/list/skeleton";

export default function SettingsLoading() {
  return (
    <div className="flex flex-col gap-6">
      <SkeletonCard lines={4} />
      <SkeletonCard lines={4} />
    </div>
  );
}
