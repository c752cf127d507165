import Link from "next/link";
import { buttonStyle } from "../console/_ui/styles";

type LinkFaultProps = {
  /** Why the link cannot be used; null while it is checked. */
  fault: string | null;
  again: { href: string; label: string };
};

/** Shown while a link is checked, or if it cannot be used. Has the height of the final form, to avoid a layout shift. */
export function LinkFault({ fault, again }: LinkFaultProps) {
  if (fault === null)
    return (
      <p role="status" className="min-h-28 text-soft leading-6">
        Checking your link…
      </p>
    );
  return (
    <div className="flex min-h-28 flex-col gap-5 leading-6" role="status">
      <p>{fault}</p>
      <Link href={again.href} className={`${buttonStyle.plain} h-10`}>
        {again.label}
      </Link>
    </div>
  );
}
