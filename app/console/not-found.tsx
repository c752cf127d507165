import { Compass } from "lucide-react";
import { Empty } from "./_ui/empty";
import { HomeLink } from "./_ui/home-link";
import { buttonStyle } from "./_ui/styles";

/** What does not exist and what belongs to another team look the same. */
export default function ConsoleNotFound() {
  return (
    <Empty
      icon={Compass}
      title="There is nothing here"
      action={<HomeLink className={`${buttonStyle.plain} h-9`}>Go to the console</HomeLink>}
    >
      <p>It does not exist, or it belongs to a team that you are not in.</p>
    </Empty>
  );
}
