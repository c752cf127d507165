import { domainsRouter } from "./domains";
import { emailsRouter } from "./emails";
import { createCallerFactory, router } from "./init";
import { keysRouter } from "./keys";
import { serviceRouter } from "./service";
import { suppressionsRouter } from "./suppressions";
import { templatesRouter } from "./templates";
import { webhooksRouter } from "./webhooks";

/** All that the console can ask for. */
export const appRouter = router({
  domains: domainsRouter,
  emails: emailsRouter,
  keys: keysRouter,
  service: serviceRouter,
  suppressions: suppressionsRouter,
  templates: templatesRouter,
  webhooks: webhooksRouter,
});

export type AppRouter = typeof appRouter;

/** Calls procedures in this process, with everything that an HTTP call is checked by. */
export const createCaller = createCallerFactory(appRouter);
