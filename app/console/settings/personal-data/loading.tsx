import { SkeletonCard } from "../../_ui/list/skeleton";

export default function PersonalDataLoading() {
  return <SkeletonCard lines={5} />;
}
