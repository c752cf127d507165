import { accountRouter, profileRouter } from "./account/account";
import { activityRouter } from "./activity/activity";
import { domainsRouter } from "./domains/domains";
import { emailsRouter } from "./emails/emails";
import { createCallerFactory, router } from "./init";
import { alertsRouter } from "./installation/alerts";
import { installationRouter } from "./installation/installation";
import { queuesRouter } from "./installation/queues";
import { relaysRouter } from "./installation/relays";
import { keysRouter } from "./keys/keys";
import { liveRouter } from "./live";
import { invitationsRouter } from "./members/invitations";
import { membersRouter } from "./members/members";
import { personalDataRouter } from "./members/personal-data";
import { teamRouter } from "./members/team";
import { overviewRouter } from "./overview/overview";
import { searchRouter } from "./search";
import { serviceRouter } from "./service";
import { suppressionsRouter } from "./suppressions/suppressions";
import { templatesRouter } from "./templates/templates";
import { webhooksRouter } from "./webhooks/webhooks";

/** All procedures of the console. */
export const appRouter = router({
  account: accountRouter,
  activity: activityRouter,
  alerts: alertsRouter,
  domains: domainsRouter,
  emails: emailsRouter,
  installation: installationRouter,
  invitations: invitationsRouter,
  keys: keysRouter,
  live: liveRouter,
  members: membersRouter,
  personalData: personalDataRouter,
  profile: profileRouter,
  overview: overviewRouter,
  queues: queuesRouter,
  relays: relaysRouter,
  search: searchRouter,
  service: serviceRouter,
  suppressions: suppressionsRouter,
  team: teamRouter,
  templates: templatesRouter,
  webhooks: webhooksRouter,
});

export type AppRouter = typeof appRouter;

/** Calls procedures in this process, with the same checks as an HTTP call. */
export const createCaller = createCallerFactory(appRouter);
