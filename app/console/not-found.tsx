import { Compass } from "lucide-react";
import Link from "next/link";
import { Empty } from "./_ui/empty";
import { buttonStyle } from "./_ui/styles";

/** What does not exist and what belongs to another team look the same. */
export default function ConsoleNotFound() {
  return (
    <Empty
      icon={Compass}
      title="There is nothing here"
      action={
        <Link href="/console" className={`${buttonStyle.plain} h-9`}>
          Go to the console
        </Link>
      }
    >
      <p>It does not exist, or it belongs to a team that you are not in.</p>
    </Empty>
  );
}
