import { CardsLoading } from "../_ui/list/skeleton";

export default function InstallationLoading() {
  return <CardsLoading cards={[3, 5]} />;
}
