import Link from "next/link";
import { buttonStyle } from "../console/_ui/styles";
import type { FollowedLink } from "./use-link";

type LinkStateProps = {
  link: Exclude<FollowedLink, { state: "good" }>;
  again: { href: string; label: string };
};

/** What stands in place of a link that cannot be used, or not yet. As high as what it may turn into. */
export function LinkState({ link, again }: LinkStateProps) {
  if (link.state === "looking")
    return (
      <p role="status" className="min-h-28 text-soft leading-6">
        Looking at your link…
      </p>
    );
  return (
    <div className="flex min-h-28 flex-col gap-5 leading-6" role="status">
      <p>
        {link.state === "over"
          ? "This link opens nothing any more: it was used, is too old, or came here in pieces. Ask for another one."
          : link.fault}
      </p>
      <Link href={again.href} className={`${buttonStyle.plain} h-10`}>
        {again.label}
      </Link>
    </div>
  );
}
