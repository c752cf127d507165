import { CircleCheck, TriangleAlert } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import type { DomainView } from "#server/trpc/domain-views";
import { cardStyle, linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { When } from "../../_ui/when";

const TONES = { good: "bg-good-tint text-good", warn: "bg-warn-tint text-warn" };

function Note({ tone, children }: { tone: keyof typeof TONES; children: ReactNode }) {
  const Icon = tone === "good" ? CircleCheck : TriangleAlert;
  return (
    <div className={`flex gap-3 rounded-xl px-4 py-3 leading-6 ${TONES[tone]}`}>
      <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
      <p className="min-w-0 break-words">{children}</p>
    </div>
  );
}

export function NameWarning({ domain: { warning } }: { domain: DomainView }) {
  return warning ? (
    <div className="mb-6">
      <Note tone="warn">{warning}</Note>
    </div>
  ) : null;
}

export function VerifiedNote({ name }: { name: string }) {
  return (
    <Note tone="good">Everything is in order. Mail from {name} goes out signed and counts as its own.</Note>
  );
}

export function FailingNote({ since }: { since: string }) {
  return (
    <Note tone="warn">
      Since <When at={since} /> looks find a fault. Mail goes on, but after four such looks over three days
      the verification is lost. Mend the records below.
    </Note>
  );
}

export function DeclaredNote() {
  return (
    <Note tone="good">
      The operator declared this domain verified, so looks at DNS change nothing. The records below still make
      mail count as yours.
    </Note>
  );
}

export function BuiltInNote() {
  const hrefOf = useConsoleHref();
  return (
    <div className={`${cardStyle} max-w-prose p-5 leading-6`}>
      <p>
        This domain is built in: every team has it, and nobody changes it. Mail from it goes only to addresses
        of its own, which play parts: <code className="font-mono text-xs">delivered@posthorn.test</code>{" "}
        arrives, <code className="font-mono text-xs">bounced@posthorn.test</code> bounces. It is for trying
        things out.
      </p>
      <p className="mt-3">
        <Link href={hrefOf("/console/domains")} className={linkStyle}>
          Add a domain of your own
        </Link>{" "}
        to write to the world.
      </p>
    </div>
  );
}
