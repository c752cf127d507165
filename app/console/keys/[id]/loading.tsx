import { CardsLoading } from "../../_ui/list/skeleton";

export const BACK = { href: "/console/keys", label: "API keys" };

/** Skeleton of the page while the key loads. */
export default function KeyLoading() {
  return <CardsLoading heading={{ title: "API key", back: BACK }} cards={[5, 4, 3]} />;
}
