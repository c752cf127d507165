import { trpc } from "#server/trpc/caller";
import { consolePage, objectTitle } from "../../console-page";
import { EmailPage } from "./email-page";

export const generateMetadata = objectTitle(
  "Email",
  (of) => trpc.emails.get.queryOptions(of),
  ({ subject }: { subject: string }) => subject,
);

/** One email: its content, the status of each recipient, and its events with their reasons. */
export default consolePage("/console/emails/[id]", ({ team, params: { id } }) => ({
  objects: [trpc.emails.get.queryOptions({ team, id })],
  queries: [
    trpc.emails.content.queryOptions({ team, id }),
    trpc.emails.eventDeliveries.queryOptions({ team, id }),
  ],
  page: <EmailPage teamId={team} id={id} />,
}));
