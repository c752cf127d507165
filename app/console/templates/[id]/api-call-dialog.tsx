"use client";

import { CodeBlock } from "../../_ui/code-block";
import { Dialog } from "../../_ui/dialog";
import { Tabs } from "../../_ui/tabs";
import { nodeCall, shellCall } from "./api-call";
import type { Fields } from "./fields";
import type { Samples } from "./stored";

type Props = {
  publicUrl: string;
  name: string;
  fields: Fields;
  samples: Samples;
  isPublished: boolean;
  onClose: () => void;
};

/** How a program sends a mail by this template. */
export function ApiCallDialog({ onClose, isPublished, ...call }: Props) {
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title="Send by the API"
      description={
        isPublished
          ? "With your sample values. Sends use what is published."
          : "With your sample values. Publish the template first: until then such sends are refused."
      }
    >
      <Tabs
        label="Language"
        panelClassName="pt-4"
        tabs={[
          {
            value: "curl",
            label: "curl",
            content: <CodeBlock label="Request" language="sh" text={shellCall(call)} />,
          },
          {
            value: "node",
            label: "Node.js",
            content: <CodeBlock label="With the resend package" language="js" text={nodeCall(call)} />,
          },
        ]}
      />
    </Dialog>
  );
}
