import { Compass } from "lucide-react";
import { Empty } from "./_ui/list/empty";
import { HomeLink } from "./_ui/shell/sidebar";
import { buttonStyle } from "./_ui/styles";

/**
 * Shown for missing objects and for those of other teams. The page does not reveal which of the two applies.
 */
export default function ConsoleNotFound() {
  return (
    <Empty
      icon={Compass}
      title="Not found"
      action={<HomeLink className={`${buttonStyle.plain} h-9`}>Go to the console</HomeLink>}
    >
      <p>It does not exist, or it belongs to a team that you are not a member of.</p>
    </Empty>
  );
}
