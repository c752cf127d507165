import { SkeletonCard } from "../../_ui/list/skeleton";
import { PageHeading } from "../../_ui/page/page-heading";

/** Skeleton of the page while the key loads. */
export default function KeyLoading() {
  return (
    <>
      <PageHeading title="API key" back={{ href: "/console/keys", label: "API keys" }} />
      <div className="flex flex-col gap-6">
        <SkeletonCard lines={5} />
        <SkeletonCard lines={4} />
        <SkeletonCard lines={3} />
      </div>
    </>
  );
}
