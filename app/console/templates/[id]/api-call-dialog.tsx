"use client";

import { Dialog } from "../../_ui/dialog/dialog";
import { Tabs } from "../../_ui/page/tabs";
import { CodeBlock } from "../../_ui/text/code-block";
import { formatCurl } from "../../_ui/text/send-example";
import {
  effectiveVariables,
  requiredVariables,
  type TemplateValue,
  type VariableField,
  valuesOf,
} from "./fields";
import type { DialogProps } from "./state/use-template";

/** Examples of how a program sends an email with this template. */
export function ApiCallDialog({ publicUrl, template: { latest, fields }, samples, onClose }: DialogProps) {
  const variables = effectiveVariables(fields);
  const values = valuesOf(variables, samples);
  const required = requiredVariables(fields).map(({ key }) => key);
  const provided = variables
    .filter(({ key }) => required.includes(key) || key in values)
    .map((variable) => [variable.key, values[variable.key] ?? exampleOf(variable)]);
  const from = fields.from.trim();
  const email = {
    to: "recipient@example.com",
    ...(fields.subject.trim() ? {} : { subject: "Your subject" }),
    template: { id: latest.alias ?? latest.id, variables: Object.fromEntries(provided) },
  };
  const shell = formatCurl(publicUrl, from ? email : { from: SENDER, ...email });
  // The types of the package require a sender even if the template has one.
  const node = formatNodeCall(publicUrl, { from: from || SENDER, ...email });
  return (
    <Dialog
      onOpenChange={onClose}
      size="wide"
      title="Send with the API"
      description={
        latest.publishedNumber === null
          ? "The examples use your sample values. Publish the template first: until then, the API rejects them."
          : "The examples use your sample values. The API sends the published version."
      }
    >
      <Tabs
        label="Language"
        panelClassName="pt-4"
        tabs={[
          {
            value: "curl",
            label: "curl",
            content: <CodeBlock label="Request" language="sh" text={shell} />,
          },
          {
            value: "node",
            label: "Node.js",
            content: <CodeBlock label="Using the resend package" language="js" text={node} />,
          },
        ]}
      />
    </Dialog>
  );
}

/** The value of a required variable without a sample. */
const exampleOf = ({ key, type }: VariableField): TemplateValue =>
  type === "number"
    ? 0
    : type === "boolean"
      ? true
      : type === "list"
        ? []
        : type === "object"
          ? {}
          : `your ${key}`;

const SENDER = "You <hello@your-domain.example>";

/** The Node.js code. It uses the `resend` package with our base URL. */
const formatNodeCall = (publicUrl: string, email: object): string => `// RESEND_BASE_URL=${publicUrl}/api
import { Resend } from "resend";

const resend = new Resend(process.env.BACKSTAMP_KEY);

const { data, error } = await resend.emails.send(${JSON.stringify(email, null, 2)});
`;
