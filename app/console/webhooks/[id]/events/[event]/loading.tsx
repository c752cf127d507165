import { CardsLoading } from "../../../../_ui/list/skeleton";

/** Skeleton of the page while the event delivery loads. */
export default function WebhookEventLoading() {
  return (
    <CardsLoading
      heading={{ title: "Event delivery", back: { href: "/console/webhooks", label: "Webhooks" } }}
      cards={[3, 6]}
    />
  );
}
