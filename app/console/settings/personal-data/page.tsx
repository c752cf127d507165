import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage } from "../../console-page";
import { PersonalDataPage } from "./personal-data-page";

export const metadata: Metadata = { title: "Personal data" };

/** Export and erasure of an address, and the receipts. */
export default consolePage("/console/settings/personal-data", ({ team }) => ({
  queries: [trpc.personalData.erasures.queryOptions({ team })],
  page: <PersonalDataPage teamId={team} />,
}));
