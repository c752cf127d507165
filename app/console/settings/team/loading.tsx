import { CardsLoading } from "../../_ui/list/skeleton";

export default function SettingsLoading() {
  return <CardsLoading cards={[4, 4]} />;
}
