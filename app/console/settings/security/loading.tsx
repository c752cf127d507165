import { CardsLoading } from "../../_ui/list/skeleton";

export default function SecurityLoading() {
  return <CardsLoading cards={[4, 5, 3, 5]} />;
}
