import { SkeletonCard } from "../../../../_ui/list/skeleton";
import { PageHeading } from "../../../../_ui/page/page-heading";

/** Skeleton of the page while the event delivery loads. */
export default function WebhookEventLoading() {
  return (
    <>
      <PageHeading title="Event delivery" back={{ href: "/console/webhooks", label: "Webhooks" }} />
      <div className="flex flex-col gap-6">
        <SkeletonCard lines={3} />
        <SkeletonCard lines={6} />
      </div>
    </>
  );
}
