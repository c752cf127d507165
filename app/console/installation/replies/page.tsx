import { trpc } from "#server/trpc/caller";
import { operatorPage, operatorTitle } from "../operator-page";
import { ReplyRuleList } from "./reply-rule-list";

export const generateMetadata = operatorTitle("Reply rules");

/** The operator's rules for replies of mail servers. */
export default operatorPage("/console/installation/replies", () => ({
  queries: [trpc.installation.replyRules.queryOptions()],
  page: <ReplyRuleList />,
}));
