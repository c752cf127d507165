import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage } from "../../console-page";
import { MembersPage } from "./members-page";

export const metadata: Metadata = { title: "Members" };

/** The members of the team and the pending invitations. */
export default consolePage("/console/settings/members", ({ team }) => ({
  queries: [trpc.members.list.queryOptions({ team }), trpc.invitations.list.queryOptions({ team })],
  page: <MembersPage teamId={team} />,
}));
