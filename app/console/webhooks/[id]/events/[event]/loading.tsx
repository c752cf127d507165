import { PageHeading } from "../../../../_ui/page-heading";
import { SkeletonCard } from "../../../../_ui/skeleton";

/** The page's frame while the event is fetched. */
export default function WebhookEventLoading() {
  return (
    <>
      <PageHeading title="Webhook event" back={{ href: "/console/webhooks", label: "Webhooks" }} />
      <div className="flex flex-col gap-6">
        <SkeletonCard lines={3} />
        <SkeletonCard lines={6} />
      </div>
    </>
  );
}
