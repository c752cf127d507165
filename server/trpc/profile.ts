import { z } from "zod";
import { renameUser } from "#server/services/users";
import { router, signedIn } from "./init";
import { Nothing } from "./strict";

const Name = z.string().trim().max(100, "Give a name of at most 100 characters.");

/** What a person is called. How they sign in is another matter. */
export const profileRouter = router({
  get: signedIn.input(Nothing).query(({ ctx }) => {
    const { email, name } = ctx.signedInAs.user;
    return { email, name };
  }),
  /** An empty name is none. */
  rename: signedIn
    .input(z.strictObject({ name: Name }))
    .mutation(({ ctx, input }) => renameUser(ctx.deps, ctx.signedInAs.user.id, input.name || null)),
});
