import { accountRouter } from "./account";
import { activityRouter } from "./activity";
import { domainsRouter } from "./domains";
import { emailsRouter } from "./emails";
import { createCallerFactory, router } from "./init";
import { invitationsRouter } from "./invitations";
import { keysRouter } from "./keys";
import { membersRouter } from "./members";
import { overviewRouter } from "./overview";
import { profileRouter } from "./profile";
import { serviceRouter } from "./service";
import { suppressionsRouter } from "./suppressions";
import { teamRouter } from "./team";
import { templatesRouter } from "./templates";
import { webhooksRouter } from "./webhooks";

/** All that the console can ask for. */
export const appRouter = router({
  account: accountRouter,
  activity: activityRouter,
  domains: domainsRouter,
  emails: emailsRouter,
  invitations: invitationsRouter,
  keys: keysRouter,
  members: membersRouter,
  profile: profileRouter,
  overview: overviewRouter,
  service: serviceRouter,
  suppressions: suppressionsRouter,
  team: teamRouter,
  templates: templatesRouter,
  webhooks: webhooksRouter,
});

export type AppRouter = typeof appRouter;

/** Calls procedures in this process, with everything that an HTTP call is checked by. */
export const createCaller = createCallerFactory(appRouter);
