import Link from "next/link";
import { buttonStyle } from "../console/_ui/styles";
import type { FollowedLink } from "./use-link";

type LinkStateProps = {
  link: Exclude<FollowedLink, { state: "valid" }>;
  again: { href: string; label: string };
};

/** Shown while a link loads, or if it cannot be used. Has the height of the final form, to avoid a layout shift. */
export function LinkState({ link, again }: LinkStateProps) {
  if (link.state === "loading")
    return (
      <p role="status" className="min-h-28 text-soft leading-6">
        Checking your link…
      </p>
    );
  return (
    <div className="flex min-h-28 flex-col gap-5 leading-6" role="status">
      <p>
        {link.state === "invalid"
          ? "This link is not valid. It was already used, has expired or is incomplete. Request a new one."
          : link.fault}
      </p>
      <Link href={again.href} className={`${buttonStyle.plain} h-10`}>
        {again.label}
      </Link>
    </div>
  );
}
