"use client";

import { Dialog } from "../../_ui/dialog/dialog";
import { Tabs } from "../../_ui/page/tabs";
import { CodeBlock } from "../../_ui/text/code-block";
import { formatNodeCall, formatShellCall } from "./api-call";
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

/** Examples of how a program sends an email with this template. */
export function ApiCallDialog({ onClose, isPublished, ...call }: Props) {
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title="Send with the API"
      description={
        isPublished
          ? "The examples use your sample values. The API sends the published version."
          : "The examples use your sample values. Publish the template first: until then, the API rejects them."
      }
    >
      <Tabs
        label="Language"
        panelClassName="pt-4"
        tabs={[
          {
            value: "curl",
            label: "curl",
            content: <CodeBlock label="Request" language="sh" text={formatShellCall(call)} />,
          },
          {
            value: "node",
            label: "Node.js",
            content: <CodeBlock label="Using the resend package" language="js" text={formatNodeCall(call)} />,
          },
        ]}
      />
    </Dialog>
  );
}
