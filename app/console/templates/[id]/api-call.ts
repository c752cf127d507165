import { formatCurl } from "../../_ui/text/send-example";
import { effectiveVariables, type Fields } from "./fields";
import type { Samples } from "./stored";
import { valuesOf } from "./use-samples";

type Call = {
  publicUrl: string;
  /** The alias of the template, or its id if it has none. */
  name: string;
  fields: Fields;
  samples: Samples;
};

/** The request body of an email with this template. Required variables without a sample value get a placeholder. */
function emailOf({ name, fields, samples }: Call) {
  const variables = effectiveVariables(fields);
  const values = valuesOf(variables, samples);
  const provided = variables
    .filter(({ key, isRequired }) => isRequired || key in values)
    .map(({ key, type }) => [key, values[key] ?? (type === "number" ? 0 : `your ${key}`)]);
  return {
    ...(fields.from.trim() ? {} : { from: "You <hello@your-domain.example>" }),
    to: "recipient@example.com",
    ...(fields.subject.trim() ? {} : { subject: "Your subject" }),
    template: { id: name, variables: Object.fromEntries(provided) },
  };
}

/** The curl command. */
export const formatShellCall = (call: Call): string => formatCurl(call.publicUrl, emailOf(call));

/** The Node.js code. It uses the `resend` package with our base URL. */
export const formatNodeCall = (call: Call): string => {
  const { template, ...email } = emailOf(call);
  const from = fieldFrom(call.fields);
  const body = JSON.stringify({ from, ...email, template }, null, 2);
  return `// RESEND_BASE_URL=${call.publicUrl}/api
import { Resend } from "resend";

const resend = new Resend(process.env.BACKSTAMP_KEY);

const { data, error } = await resend.emails.send(${body});
`;
};

/** The types of the package require a sender even if the template has one. */
const fieldFrom = ({ from }: Fields): string => from.trim() || "You <hello@your-domain.example>";
