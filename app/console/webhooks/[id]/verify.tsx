import { Section } from "../../_ui/page/card";
import { linkStyle } from "../../_ui/styles";

/** How to verify the signature of a request. The guide has the code. */
export const Verify = () => (
  <Section title="Verify signatures">
    <p className="max-w-prose px-4 pb-4">
      Requests are signed (Standard Webhooks). Verify the signature over the unmodified body, and reject
      requests that are older than five minutes. Respond with a 2xx status within 15 seconds. An event can
      arrive twice, with the same <code className="font-mono">webhook-id</code>.{" "}
      <a href="/docs/webhooks#verify-the-signature" className={linkStyle}>
        Sample code
      </a>
    </p>
  </Section>
);
