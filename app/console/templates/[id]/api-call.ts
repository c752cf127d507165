import { curlCall } from "../../_ui/send-call";
import { type Fields, settleVariables } from "./fields";
import type { Samples } from "./stored";
import { valuesOf } from "./use-samples";

type Call = {
  publicUrl: string;
  /** The template's alias, or its id where it has none. */
  name: string;
  fields: Fields;
  samples: Samples;
};

/** A mail by this template as a program sends it: with the sample values, and with the names of those that have none. */
function mailOf({ name, fields, samples }: Call) {
  const variables = settleVariables(fields);
  const values = valuesOf(variables, samples);
  const given = variables
    .filter(({ key, isRequired }) => isRequired || key in values)
    .map(({ key, type }) => [key, values[key] ?? (type === "number" ? 0 : `your ${key}`)]);
  return {
    ...(fields.from.trim() ? {} : { from: "You <hello@your-domain.example>" }),
    to: "somebody@example.com",
    ...(fields.subject.trim() ? {} : { subject: "Your subject" }),
    template: { id: name, variables: Object.fromEntries(given) },
  };
}

/** The call at the command line. */
export const shellCall = (call: Call): string => curlCall(call.publicUrl, mailOf(call));

/** The same by the `resend` package, whose base URL is ours. */
export const nodeCall = (call: Call): string => {
  const { template, ...mail } = mailOf(call);
  const from = fieldFrom(call.fields);
  const body = JSON.stringify({ from, ...mail, template }, null, 2);
  return `// RESEND_BASE_URL=${call.publicUrl}/api
import { Resend } from "resend";

const resend = new Resend(process.env.POSTHORN_KEY);

const { data, error } = await resend.emails.send(${body});
`;
};

/** The package's types want a sender though the template has one. */
const fieldFrom = ({ from }: Fields): string => from.trim() || "You <hello@your-domain.example>";
