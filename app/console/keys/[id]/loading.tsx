import { CardsLoading } from "../../_ui/list/skeleton";

/** Skeleton of the page while the key loads. */
export default function KeyLoading() {
  return (
    <CardsLoading
      heading={{ title: "API key", back: { href: "/console/keys", label: "API keys" } }}
      cards={[5, 4, 3]}
    />
  );
}
