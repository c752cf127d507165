import { PageHeading } from "../../_ui/page-heading";
import { SkeletonCard } from "../../_ui/skeleton";

/** The page's frame while the key is fetched. */
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
