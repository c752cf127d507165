import { CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { DomainView } from "#server/trpc/domains/views";
import { TextLink } from "../../_ui/page/page-link";
import { cardStyle } from "../../_ui/styles";
import { When } from "../../_ui/text/when";

const TONES = {
  good: "bg-good-tint text-good",
  info: "bg-info-tint text-info",
  warn: "bg-warn-tint text-warn",
};

const ICONS = { good: CircleCheck, info: Info, warn: TriangleAlert };

export function Banner({ tone, children }: { tone: keyof typeof TONES; children: ReactNode }) {
  const Icon = ICONS[tone];
  return (
    <div className={`flex gap-3 rounded-xl px-4 py-3 leading-6 ${TONES[tone]}`}>
      <Icon className="mt-1 size-4 shrink-0" />
      <p className="min-w-0 break-words">{children}</p>
    </div>
  );
}

/** Notices above the records: whether the domain is verified, and what the owner must do to keep it. */
export function Banners({ domain }: { domain: DomainView }) {
  const { name, health, last_checked_at, declared_verified, expires_at, failing_since } = domain;
  return (
    <>
      {declared_verified ? (
        <Banner tone="info">
          The operator verified this domain manually. DNS checks do not change its status. Publish the records
          below anyway: they authenticate your email.
        </Banner>
      ) : null}
      {expires_at ? (
        <Banner tone="warn">
          The domain is deleted <When isDue isLong at={expires_at} /> if it is not verified by then. You can
          then add it again.
        </Banner>
      ) : null}
      {failing_since ? (
        <Banner tone="warn">
          DNS checks are failing. The first failure was <When isLong at={failing_since} />. Email is still
          sent. After four failed checks over three days, the domain loses its verification. Correct the
          records below.
        </Banner>
      ) : null}
      {health === "verified" && last_checked_at ? (
        <Banner tone="good">
          All required records are verified. Email from {name} is signed and authenticated.
        </Banner>
      ) : null}
    </>
  );
}

/** The content of the page of the built-in domain. */
export function BuiltInNote() {
  return (
    <div className={`${cardStyle} max-w-prose p-5 leading-6`}>
      <p>
        This domain is built in for testing. Every team has it, and it cannot be changed. It sends only to its
        own test addresses: <code className="font-mono text-xs">delivered@backstamp.test</code> is delivered,{" "}
        <code className="font-mono text-xs">bounced@backstamp.test</code> bounces.
      </p>
      <p className="mt-3">
        <TextLink to="/console/domains">Add your own domain</TextLink> to send to other recipients.
      </p>
    </div>
  );
}
